import {
  PROBLEM_CATEGORIES,
  PROBLEM_CODES,
  problems,
  problemSlug,
  type ProblemCategory,
} from '@agent-exchange/protocol'

const INTRODUCTION = `# Problems

Every failure is \`application/problem+json\` (RFC 9457) with seven members: \`type\`, \`title\`, \`status\`, \`code\`,
\`correlation_id\`, \`retryable\`, \`details\`. A problem never contains content, a token or a key.

The specification defines two codes, *${specified()}*. The other codes, and all
categories after \`transport_failure\`, are ours ([O-11](open-points.md#o-11)). \`type\` ends with the slug.

This page is generated from \`packages/protocol/src/problems.ts\` by \`npm run generate\`.
`

export function problemsPage(): string {
  return [INTRODUCTION, ...PROBLEM_CATEGORIES.map(section)].join('\n')
}

function specified(): string {
  return PROBLEM_CODES.filter((code) => problems[code].basis === 'specification').join('* and *')
}

function section(category: ProblemCategory): string {
  const rows = PROBLEM_CODES.filter((code) => problems[code].category === category).map((code) => {
    const { status, title, retryable, advice } = problems[code]
    return `| \`${code}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${title}. ${advice} | \`${problemSlug(code)}\` |`
  })
  return `## ${category}\n\n| code | status | retry | meaning and advice | slug |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`
}
