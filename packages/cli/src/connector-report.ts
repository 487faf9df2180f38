import { styleText } from 'node:util'
import type { DoctorCheck } from '@agent-exchange/edc'
import { visible, visibleJson } from './visible.ts'

/** Prints the checks of a connector. The command fails if one of them fails. */
export function showConnectorChecks(
  checks: readonly DoctorCheck[],
  { json = false }: { readonly json?: boolean },
): void {
  const wrong = checks.find(({ ok }) => !ok)
  if (json) console.log(visibleJson({ ok: wrong === undefined, checks }))
  else {
    for (const check of checks) print(check)
    console.log(wrong ? `\nFix this first: ${wrong.name}.` : '\nThe connector can carry packages.')
  }
  if (wrong) process.exitCode = 1
}

function print({ name, ok, detail, hint }: DoctorCheck): void {
  const mark = ok ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${name.replaceAll('_', ' ')}: ${visible(detail)}`)
  // The detail of a failure may already end with the hint.
  if (!ok && hint !== '' && !detail.includes(hint)) console.log(`    ${hint}`)
}
