import { styleText } from 'node:util'
import { pino, type Logger } from 'pino'

type Style = Parameters<typeof styleText>[0]

const LEVELS: Readonly<Record<number, readonly [name: string, style: Style]>> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  30: ['info', 'green'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
}
/** Shown in another form, or of no use to a person. */
const LEFT_OUT = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])

export interface LogOutput {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** One JSON object a line; on a terminal, one readable line instead, unless `json` is set. */
export function createLog(
  level: string,
  { output = process.stdout, json = false }: { readonly output?: LogOutput; readonly json?: boolean } = {},
): Logger {
  if (!output.isTTY || json)
    return pino(
      { level },
      output === process.stdout ? undefined : { write: (line) => void output.write(line) },
    )
  return pino({ level }, { write: (line: string) => void output.write(readable(line)) })
}

/** Time, level, message, then the other members as name=value. */
function readable(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown> & { level: number; time: number; msg?: string }
  const [name, style] = LEVELS[entry.level] ?? [String(entry.level), 'reset']
  const time = styleText('dim', new Date(entry.time).toISOString().slice(11, 23))
  const facts = Object.entries(entry).filter(([member]) => !LEFT_OUT.has(member))
  const shown = facts.map(([member, value]) => `${styleText('dim', `${member}=`)}${text(value)}`)
  const { stack } = (entry['err'] ?? {}) as { stack?: string }
  return `${[time, styleText(style, name.padEnd(5)), entry.msg ?? '', ...shown].join(' ')}\n${stack ? `${stack}\n` : ''}`
}

/** JSON escapes all control characters but U+007F to U+009F. */
function text(value: unknown): string {
  const json = JSON.stringify(value) ?? ''
  const plain = /^"[!#-[\]-~]*"$/u.test(json) ? json.slice(1, -1) : json
  return plain.replace(/[\u007f-\u009f]/gu, '�')
}
