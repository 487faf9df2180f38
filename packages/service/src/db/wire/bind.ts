import { writeTextArray } from '../text-array.ts'
import type { MessageWriter } from './message-writer.ts'
import type { Value } from './statement.ts'

const TEXT_FORMAT = 0
const BINARY_FORMAT = 1
const ALL_ROWS = 0

/** Gives the statement its values and has it carried out, through the portal without a name. */
export function writeExecution(out: MessageWriter, name: string, values: readonly Value[]): void {
  out.begin('B').terminated('').terminated(name).int16(values.length)
  for (const value of values) out.int16(value instanceof Uint8Array ? BINARY_FORMAT : TEXT_FORMAT)
  out.int16(values.length)
  for (const value of values) writeValue(out, value)
  // Results as text, all of them.
  out.int16(0).finish()
  out.begin('E').terminated('').int32(ALL_ROWS).finish()
}

function writeValue(out: MessageWriter, value: Value): void {
  if (value === null) out.none()
  else if (typeof value === 'string') out.text(value)
  else if (value instanceof Uint8Array) out.bytes(value)
  else if (typeof value === 'object') out.text(writeTextArray(value))
  else out.text(String(value))
}
