import { pointerTo, type ProtocolObject } from '@agent-exchange/protocol'

/** Placeholder sentences of a new object. */
export const PLACEHOLDERS = {
  horizon: 'Say which weeks or months.',
  fact: 'State one fact that the reasoning rests on.',
  conclusion: 'Say in a sentence what follows from the facts.',
  driver: 'Name what drives it.',
  unknown: 'Name what is not known.',
  confidence: 'Say what the confidence rests on.',
  action: 'Say what you will do.',
  request: 'Say what you ask for.',
  answer: 'Say in a sentence what you answer.',
  story: 'Say in a sentence what both sides now hold to be so.',
  decision: 'Say what was decided.',
} as const

const SENTENCES: ReadonlySet<unknown> = new Set(Object.values(PLACEHOLDERS))

/** A warning about an object that was sent, or about the exchange that accepted it. */
export interface SendWarning {
  readonly code: 'placeholder' | 'log_unchecked'
  /** The member of the object; empty where the warning is about none. */
  readonly pointer: string
  readonly message: string
}

/** Pointers to placeholder sentences that were not replaced. */
export function placeholderWarnings(object: ProtocolObject): SendWarning[] {
  return [...textsIn(object, '')]
    .filter(([, text]) => SENTENCES.has(text))
    .map(([pointer, text]) => ({
      code: 'placeholder',
      pointer,
      message: `Replace the sentence of the template: "${text}"`,
    }))
}

function* textsIn(value: unknown, pointer: string): Generator<[pointer: string, text: string]> {
  if (typeof value === 'string') yield [pointer, value]
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) yield* textsIn(member, pointerTo(pointer, name))
}
