import { userInfo } from 'node:os'

/** Whoever is responsible for a change by command: the name that was given, or the user of the operating system. */
export const actorOf = (by?: string) => ({ kind: 'command', id: by ?? userInfo().username }) as const
