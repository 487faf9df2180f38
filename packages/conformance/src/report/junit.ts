import { verdictFor } from '../run/verdicts.ts'
import type { Report } from './report.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text and quoted attributes of XML and HTML. Characters that XML 1.0 excludes are dropped. */
export function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '')
}

/** One test case for each requirement and check. */
export function junitOf({ verdicts, judged }: Report): string {
  const cases = verdicts.flatMap(({ requirement, checks }) =>
    checks
      .map((check) => ({ ...check, verdict: verdictFor(requirement.id, check) }))
      .map(({ name, title, verdict, reason = '', milliseconds }) => ({
        failed: verdict === 'fail',
        error: verdict === 'error',
        skipped: verdict === 'skipped',
        xml: [
          `    <testcase classname="${escaped(requirement.id)}" name="${escaped(`${name}: ${title}`)}" time="${milliseconds / 1_000}">`,
          ...(verdict === 'fail' ? [`      <failure message="${escaped(reason)}"/>`] : []),
          ...(verdict === 'error' ? [`      <error message="${escaped(reason)}"/>`] : []),
          ...(verdict === 'skipped' ? [`      <skipped message="${escaped(reason)}"/>`] : []),
          '    </testcase>',
        ],
      })),
  )
  const failures = cases.filter(({ failed }) => failed).length
  const errors = cases.filter(({ error }) => error).length
  const skipped = cases.filter((each) => each.skipped).length
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}" skipped="${skipped}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="conformance of ${escaped(judged)}" ${counts}>`,
    ...cases.flatMap(({ xml }) => xml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}
