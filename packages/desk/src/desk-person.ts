/**
 * What a person may do at a desk. The roles are no ladder: an administrator without another role reads no content, and
 * an auditor sees evidence only.
 */
export const DESK_ROLES = ['reader', 'planner', 'approver', 'auditor', 'administrator'] as const
export type DeskRole = (typeof DESK_ROLES)[number]

export interface DeskPerson {
  /** For the access record and for decisions. It never changes. */
  readonly id: string
  readonly name: string
  readonly email?: string
  readonly roles: readonly DeskRole[]
}

export type DeskRoles = readonly [DeskRole, ...DeskRole[]]

/** Whoever may read what companies wrote to each other. */
export const CONTENT_ROLES: DeskRoles = ['reader', 'planner', 'approver']
export const EVIDENCE_ROLES: DeskRoles = ['reader', 'planner', 'approver', 'auditor']
/** Whoever may give content to an auditor. */
export const DISCLOSING_ROLES: DeskRoles = ['planner', 'approver']

/** Whoever may send a draft that needs no further decision. */
export const SENDING_ROLES: DeskRoles = ['planner', 'approver']

export function hasOneOf({ roles }: Pick<DeskPerson, 'roles'>, wanted: readonly DeskRole[]): boolean {
  return wanted.some((role) => roles.includes(role))
}
