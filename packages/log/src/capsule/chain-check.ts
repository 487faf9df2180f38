/** What the structure of a capsule of format 3 has to be, whoever signed what in it. */
export const CHAIN_CHECK_CODES = [
  /** The log key of the capsule signed its checkpoint. */
  'log_checkpoint',
  /** An earlier checkpoint of the same log leads to that one. */
  'log_history',
  /** Each package is of the thread of the capsule, and is shown once. */
  'package_thread',
  /** Packages are in the order of their first leaves. */
  'package_order',
  /** The entries of a package are positions 1 to n. */
  'chain_positions',
  /** An entry that only one organization may see is of a kind that allows it. */
  'chain_visibility',
  /** The body of an entry has an RFC 8785 form. */
  'chain_body',
  /** The acceptance carries the digest of the metadata that are shown. */
  'metadata_digest',
  /** Records cover positions in their order, without an overlap or a hole. */
  'record_positions',
  /** The log holds the record as it is shown. */
  'record_leaf',
  /** The leaves of a package are in the order of its records. */
  'record_order',
  /** Every entry is in a record of the log. */
  'record_missing',
  /** The head is about this package, its thread and this log. */
  'head_subject',
  /** A key of the platform that the capsule shows signed the head. */
  'head_signature',
  /** The chain that is shown reaches the position of the head, and has the same link there. */
  'head_link',
  /** No entry beyond the head is in a leaf that the head covers. */
  'head_false',
  /** The log holds the key event as it is shown. */
  'key_event_leaf',
  /** Key events of an agent count from 1 without gaps, in the order of their leaves, each number once. */
  'key_event_numbers',
  /** Each key is usable, is shown once, and has its thumbprint in its registration. */
  'key_bound',
] as const

export type ChainCheckCode = (typeof CHAIN_CHECK_CODES)[number]

/** One check as data. Renderers make sentences of it. */
export interface ChainCheck {
  readonly code: ChainCheckCode
  /** `unproved`: nothing contradicts it, and the capsule does not prove it. */
  readonly result: 'holds' | 'fails' | 'unproved'
  readonly package_id?: string
  /** Of an entry in the chain of its package. */
  readonly position?: number
  readonly agent_id?: string
  readonly key_id?: string
  /** Such as an index, a number, or the code of an error. */
  readonly values?: Readonly<Record<string, string | number>>
}

type About = Omit<ChainCheck, 'code' | 'result'>

export class ChainChecks {
  readonly all: ChainCheck[] = []

  holds(code: ChainCheckCode, about: About = {}): true {
    this.all.push({ code, result: 'holds', ...about })
    return true
  }

  fails(code: ChainCheckCode, about: About = {}): false {
    this.all.push({ code, result: 'fails', ...about })
    return false
  }

  unproved(code: ChainCheckCode, about: About = {}): void {
    this.all.push({ code, result: 'unproved', ...about })
  }

  /** Returns the condition. */
  check(code: ChainCheckCode, condition: boolean, about: About = {}): boolean {
    return condition ? this.holds(code, about) : this.fails(code, about)
  }
}
