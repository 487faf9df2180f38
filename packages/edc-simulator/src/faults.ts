/** Faults that a test switches on. Numbers count down to zero. */
export interface Faults {
  /** A negotiation of this participant stays in this state. */
  negotiationHangsAt?: string
  /** A negotiation of this participant ends there, with this detail. */
  negotiationEndsAt?: { readonly state: string; readonly detail?: string }
  transferHangsAt?: string
  transferEndsAt?: { readonly state: string; readonly detail?: string }
  /** What the catalog of this participant says. */
  catalog?: 'no offer' | 'two offers' | 'other asset' | 'no pull' | 'duties'
  /** Policies are refused, as EDC does from 0.14 on where it has no function for a condition. */
  refusesPolicies?: boolean
  /** The agreement that this participant gives is about another asset. */
  agreesOnAsset?: string
  /** Properties that the catalog claims of every asset. */
  lyingProperties?: Readonly<Record<string, string>>
  /** The token is not stored on the consumer's side, or points there. */
  withholdToken?: boolean
  dataPlaneAddress?: string
  /** Requests to the data plane whose token is refused. */
  rejectTokens?: number
  rejectWith?: 401 | 403
  /** Requests to the data plane that are answered so. */
  dataPlaneStatus?: { readonly status: number; times: number; readonly location?: string }
  /** What happens to the bytes on their way. */
  bytes?: ByteFault
  /** How often `bytes` applies. Defaults to always. */
  bytesTimes?: number
  /** Requests to the management API that are answered 503. */
  busy?: number
  /** Requests to the management API whose connection is cut before anything is done. */
  cut?: number
  /** Requests that are carried out, and whose answer never arrives. */
  loseAnswer?: { readonly method: string; readonly path: RegExp; times: number }
  /** Every answer of the management API. */
  managementAnswer?: { readonly status: number; readonly body: string; readonly location?: string }
}

export type ByteFault =
  | { readonly kind: 'flip'; readonly at: number }
  | { readonly kind: 'drop'; readonly count: number }
  | { readonly kind: 'add'; readonly count: number }
  /** The length says all of it, the connection ends early. */
  | { readonly kind: 'truncate'; readonly after: number }
  | { readonly kind: 'reset' }
  | { readonly kind: 'stall'; readonly after: number }
  /** Ten parts, with a pause before each. */
  | { readonly kind: 'slow'; readonly pauseMs: number }
  | { readonly kind: 'swap'; readonly assetId: string }
  | { readonly kind: 'endless' }

/** Takes one off a counter; whether there was one. */
export function spend(faults: Faults, name: 'rejectTokens' | 'busy' | 'cut'): boolean {
  const left = faults[name] ?? 0
  if (left <= 0) return false
  faults[name] = left - 1
  return true
}
