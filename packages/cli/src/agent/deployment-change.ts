import type { ProfileChange } from '@agent-exchange/protocol'
import { visible } from '../visible.ts'

/** A change of a setting, in a line. */
export function changeLine({ id, setting, before, after }: ProfileChange): string {
  return visible(`  ${id}.${setting}: ${settingText(before)} → ${settingText(after)}`)
}

export function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
