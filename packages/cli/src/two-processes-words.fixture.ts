/** What only the two agents may ever read. */
export const SECRET_WORDS = {
  fact: 'The rail press in hall seven stands still until Thursday',
  reasoning: 'Comfort seats will be short by two hundred and ten',
  answer: 'We can take the base variant for those ten days',
} as const
