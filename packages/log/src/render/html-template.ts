import { html as escapedHtml, type Html } from '@agent-exchange/web/html'
import { visibleText } from './visible-text.ts'

type Value = string | number | undefined | Html | readonly Html[]

/** The template of packages/web. Text is shown with its control and format characters as code points. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return escapedHtml(
    strings,
    ...values.map((value) => (typeof value === 'string' ? visibleText(value) : value)),
  )
}
