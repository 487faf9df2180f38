import {
  chainLinks,
  isHidden,
  type CapsulePackage,
  type CapsuleV3,
  type ShownEntry,
} from '@agent-exchange/log'

export type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> }
export type MutableCapsule = Mutable<CapsuleV3>

/** A copy of a capsule after a change. */
export function changed(capsule: CapsuleV3, change?: (copy: MutableCapsule) => unknown): MutableCapsule {
  const copy = structuredClone(capsule) as MutableCapsule
  change?.(copy)
  return copy
}

export function packageOf({ packages }: MutableCapsule, index: number): Mutable<CapsulePackage> {
  const found = packages[index]
  if (!found) throw new Error(`there is no package ${index}`)
  return found
}

/** The entry at a position of a package; not a placeholder. */
export function entryOf(capsule: MutableCapsule, index: number, position: number): Mutable<ShownEntry> {
  const entry = packageOf(capsule, index).entries[position - 1]
  if (!entry || !('proof' in entry)) throw new Error(`there is no entry ${position}`)
  return entry
}

export function entriesOf({ packages }: CapsuleV3): ShownEntry[] {
  return packages.flatMap(({ entries }) => entries.filter((entry): entry is ShownEntry => !isHidden(entry)))
}

/** The links of a package, in hexadecimal. */
export function linksOf({ packages }: CapsuleV3, index: number): string[] {
  const shown = packages[index]
  const { links = [] } = shown ? chainLinks(shown) : {}
  return links.map((link) => Buffer.from(link).toString('hex'))
}

const indexesOf = (kinds: readonly string[], isWanted: (kind: string) => boolean) =>
  kinds.flatMap((kind, at) => (isWanted(kind) ? [at] : []))

const isRecord = (kind: string) => kind === 'record'

export function recordsLast(kinds: readonly string[]): number[] {
  return [...indexesOf(kinds, (kind) => !isRecord(kind)), ...indexesOf(kinds, isRecord)]
}

export function keysLast(kinds: readonly string[]): number[] {
  return [...indexesOf(kinds, isRecord), ...indexesOf(kinds, (kind) => !isRecord(kind))]
}

/** Exchanges the places of two records. */
export function recordsSwapped(one: number, other: number) {
  return (kinds: readonly string[]): number[] => {
    const all = kinds.map((_, at) => at)
    const records = indexesOf(kinds, isRecord)
    const [first = 0, second = 0] = [records[one], records[other]]
    return all.with(first, second).with(second, first)
  }
}
