/** English of the gateway's own pages of the desk, by page. */

/** The frame of every page, and the page without an agent. */
export const DESK_TEXTS = {
  footer: 'Agent Exchange gateway. Every read of content is recorded.',
  agent: 'Agent',
  show: 'Show',
  signOut: 'Sign out',
  noAgent: 'No agent yet',
  noAgentText: 'This gateway runs no agent. An administrator adds one on its machine, with an invitation:',
} as const

export const SIGN_IN_TEXTS = {
  signIn: 'Sign in',
  lead: 'The desk of your company: what other companies wrote, what waits for you, what was sent.',
  companyAccount: 'Sign in with your company account',
  leadsTo: (host: string) => `It leads to ${host}.`,
  passkey: 'Sign in with a passkey',
  passkeyText: 'Your browser asks for your passkey, with your PIN, fingerprint or face.',
  invitedTitle: 'Invited?',
  invited: 'Open the link that an administrator gave you. It signs you in once.',
  lost: 'Lost your passkey? An administrator makes a new link: aex gateway person link PERSON_ID.',
  ended: 'Your session has ended. It lasts eight hours, and half an hour without a page.',
  linkTitle: 'Sign in with your link',
  linkText: 'The link works once. Register a passkey afterwards: it signs you in from then on.',
  signedIn: 'Signed in',
  goOn: 'Continue to the desk',
  backToSignIn: 'Back to sign-in',
} as const

/** Why a sign-in failed. `host` is that of the identity provider. */
export const SIGN_IN_FAULT_TEXTS = {
  provider_unavailable: {
    title: 'The identity provider does not answer',
    text: (host: string) => `${host} could not be reached. Try again in a minute.`,
  },
  refused_by_provider: {
    title: 'The identity provider refused',
    text: (host: string) => `${host} did not sign you in. Ask whoever runs it whether you may use the desk.`,
  },
  answer_invalid: {
    title: 'The answer of the identity provider is not valid',
    text: () =>
      'It does not belong to the sign-in that this browser began, or its signature is wrong. Sign in again.',
  },
  no_role: {
    title: 'You have no role here',
    text: () =>
      'Your company knows you, but none of your groups has a role at this desk. An administrator maps groups to roles with AEX_GATEWAY_OIDC_ROLES.',
  },
  expired: {
    title: 'The sign-in took too long',
    text: () => 'Finish it within ten minutes, in the browser that began it. Sign in again.',
  },
  removed: {
    title: 'You were removed from this desk',
    text: () => 'Ask an administrator of the gateway why.',
  },
  of_provider: {
    title: 'Sign in with your company account',
    text: () => 'Your passkey decides about drafts. You sign in with the company account.',
  },
  link_gone: {
    title: 'This link does not work any more',
    text: () =>
      'It was used, it is older than a day, or there is a newer one. If you did not use it yourself, tell an administrator at once.',
  },
  no_provider: {
    title: 'There is no identity provider',
    text: () => 'This gateway signs people in by links and passkeys.',
  },
} as const

export const PASSKEYS_TEXTS = {
  navigation: 'Passkeys',
  title: 'Your passkeys',
  signsIn: 'With a passkey you sign in and decide about drafts.',
  decides: 'With a passkey you decide about drafts. You sign in with your company account.',
  counts: 'It counts for drafts that are made after it was registered.',
  linkUsed: 'A link of an administrator signed you in.',
  linkUsedText:
    'If you did not open it yourself, somebody else acts as you. Have an administrator remove you, and look at the passkeys below.',
  none: 'No passkey yet.',
  noneText: 'Register one below.',
  register: 'Register a passkey',
  signInFresh:
    'A passkey is registered within ten minutes after your company has asked who you are. Sign in once more: it asks for your password or your second factor again.',
  signInAgain: 'Sign in again, then register',
  name: 'Name',
  nameHint: 'To recognize it in this list, such as “Laptop”.',
  next: 'Continue',
  unavailable: 'No passkeys at this address.',
  registered: 'Registered passkeys',
  columns: ['Name', 'Registered', 'Last used', 'Change'],
  never: 'never',
  remove: 'Remove…',
  removeExplained:
    'You cannot sign in or decide with it any more. Approvals that it gave and that were not used are void.',
  removeNow: 'Remove now',
  asksWhere: 'Your browser asks where to keep the passkey',
  asksWho: 'and for your PIN, fingerprint or face.',
  create: 'Create the passkey',
} as const

export const PEOPLE_TEXTS = {
  people: 'People',
  person: 'Person',
  signsInBy: 'Signs in by',
  since: 'Since',
  id: 'Id',
  invitePerson: 'Invite a person',
  invite: 'Invite',
  name: 'Name',
  email: 'Mail address',
  roles: 'Roles',
  rolesExplained: {
    reader: 'reads conversations',
    planner: 'reads, drafts and answers',
    approver: 'reads and decides about drafts',
    auditor: 'sees evidence only, never content',
    administrator: 'manages people and sessions',
  },
  rolesOfProvider: 'The groups of the identity provider give the roles, at each sign-in.',
  saveRoles: 'Save the roles',
  linkOnce: 'Give this link to the person. It is shown once and works once, within a day:',
  newLink: 'New link',
  newLinkExplained:
    'The person is signed out everywhere, and earlier links stop working. Whoever opens the new link first is this person.',
  makeLink: 'Make a new link',
  remove: 'Remove',
  removeExplained: 'The person is signed out everywhere and cannot sign in again.',
  removeNow: 'Remove this person',
  lostAccess: 'Lost passkey or link',
  leaves: 'Leaves the company',
  yourself: 'You cannot remove yourself. Another administrator can.',
  noPerson: 'There is no such person',
  nobody: 'Nobody yet.',
  nobodyText: 'Invite somebody, or connect the identity provider of your company (AEX_GATEWAY_OIDC_ISSUER).',
  ofProvider: 'identity provider',
  byInvitation: 'invitation',
} as const

export const SESSION_TEXTS = {
  sessions: 'Sessions',
  columns: ['Person', 'Signed in', 'By', 'Last page', 'Change'],
  by: { provider: 'company account', link: 'link', passkey: 'passkey' },
  end: 'End',
  none: 'Nobody is signed in.',
  noneText: 'Sessions end after eight hours, and after half an hour without a page.',
} as const

export const RECORD_TEXTS = {
  record: 'Record',
  columns: ['When', 'Who', 'What', 'Details'],
  by: { person: 'Person', command: 'Command of', gateway: 'Gateway, by' },
  actions: {
    'delegation.add': 'Delegation made',
    'delegation.end': 'Delegation ended',
    'hold.place': 'Hold placed',
    'hold.release': 'Hold released',
    'name.set': 'Name of an organization set',
    'passkey.add': 'Passkey registered',
    'passkey.remove': 'Passkey removed',
    'person.add': 'Person added',
    'person.link': 'New link for a person',
    'person.remove': 'Person removed',
    'person.role': 'Roles of a person changed',
    'policy.put': 'Policy added',
    'policy.remove': 'Policy removed',
    'push.add': 'Push endpoint set',
    'push.remove': 'Push endpoint removed',
    'rule.add': 'Rule added',
    'rule.remove': 'Rule removed',
    'session.end': 'Session ended',
    'session.start': 'Signed in',
    'system.add': 'System added',
    'system.revoke': 'System revoked',
  },
  nothing: 'none',
  none: 'Nothing was changed yet.',
  noneText:
    'Changes of people, roles, passkeys, sessions, rules, delegations, systems, policies, names, holds and push endpoints appear here, and nobody can alter them.',
} as const

export const DELEGATION_TEXTS = {
  delegations: 'Delegations',
  explanation:
    'While you are away, another person decides about drafts in your place. You count as one person together, and it cannot be passed on.',
  columns: ['Person', 'Until', 'Change'],
  delegate: 'Let a person approve for you',
  person: 'Person',
  morePeople: (count: number) =>
    `The first ${count} people by name. For somebody else, ask an administrator: aex gateway delegation add.`,
  lastDay: 'Last day, in UTC',
  end: 'End now',
  none: 'Nobody approves for you.',
  noneText: 'A delegation lasts at most 92 days.',
} as const

/** What the rules ask for, for whoever decides about a draft. */
export const NEED_TEXTS = {
  unknownAuthor: 'It is not known who wrote this draft: two people must approve.',
  unruled: 'No rule fits this draft: one approver is enough, and never whoever wrote it.',
  ruled: (people: number, approvers: readonly string[]) => {
    const count = people === 1 ? 'One person' : `${people} people`
    const who = approvers.length > 0 ? ` of ${approvers.join(', ')}` : ''
    return `${count}${who} must approve, and never whoever wrote it.`
  },
} as const
