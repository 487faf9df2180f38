const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** U+0000 and most C0 controls are parse errors in HTML; lone surrogates cannot be encoded. */
// oxlint-disable-next-line no-control-regex
const NOT_REPRESENTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\p{Surrogate}/gu

/** Safe between tags and inside quoted attribute values. */
export function escape(text: string): string {
  return text.replace(NOT_REPRESENTABLE, '\ufffd').replace(/[&<>"']/gu, (found) => ESCAPES[found] ?? '')
}
