import { styleText } from 'node:util'
import type { DoctorCheck } from '@agent-exchange/edc'
import { visible, visibleJson } from './visible.ts'

/** Prints what was found at a connector; the command fails where something is wrong. */
export function showConnectorChecks(
  checks: readonly DoctorCheck[],
  { json = false }: { readonly json?: boolean },
): void {
  const wrong = checks.find(({ ok }) => !ok)
  if (json) console.log(visibleJson({ ok: wrong === undefined, checks }))
  else {
    for (const check of checks) print(check)
    console.log(wrong ? `\nMend this first: ${wrong.name}.` : '\nThe connector can carry packages.')
  }
  if (wrong) process.exitCode = 1
}

function print({ name, ok, detail, hint }: DoctorCheck): void {
  const mark = ok ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${name.replaceAll('_', ' ')}: ${visible(detail)}`)
  // The details of a failure often end with the hint already.
  if (!ok && hint !== '' && !detail.includes(hint)) console.log(`    ${hint}`)
}
