import type { CheckResult } from '@agent-exchange/sdk'
import { badge, html, table, type Html } from '@agent-exchange/web'
import { CHECK_TEXTS } from './texts/draft-texts.ts'
import { labelOf, textOf } from './object-view.ts'

/** The five checks of the policy, and what to change where one fails. */
export function checkTable(checks: readonly CheckResult[]): Html {
  const hasFailures = checks.some(({ passed }) => !passed)
  return table({
    caption: CHECK_TEXTS.caption,
    hidesCaption: true,
    columns: [
      { title: CHECK_TEXTS.check },
      { title: CHECK_TEXTS.result },
      ...(hasFailures ? [{ title: CHECK_TEXTS.change }] : []),
    ],
    rows: checks.map(({ checkId, passed, judged, failures }) => [
      labelOf(checkId),
      passed
        ? badge('good', CHECK_TEXTS.passed)
        : judged
          ? badge('bad', CHECK_TEXTS.failed)
          : badge('neutral', CHECK_TEXTS.notEvaluated),
      ...(hasFailures ? [failures.map(failureView)] : []),
    ]),
  })
}

function failureView({ pointer, message }: CheckResult['failures'][number]): Html {
  return html`<p>${pointer !== '' && html`${textOf(pointer)}: `}${textOf(message)}</p>`
}
