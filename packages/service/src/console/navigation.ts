import type { NavigationItem } from '@agent-exchange/web'
import { hasRole, type Operator, type OperatorRole } from '../kernel/operator-roles.ts'

interface Place {
  readonly href: string
  readonly text: string
  readonly role?: OperatorRole
}

interface Section {
  readonly text: string
  /** The first one is the address of the section. */
  readonly places: readonly Place[]
}

/** Two levels: sections in the header, their places below it. */
const SECTIONS: readonly Section[] = [
  { text: 'Overview', places: [{ href: '/', text: 'Overview' }] },
  {
    text: 'Traffic',
    places: [
      { href: '/search', text: 'Search' },
      { href: '/packages', text: 'Packages' },
      { href: '/deliveries', text: 'Deliveries' },
      { href: '/endpoints', text: 'Endpoints' },
      { href: '/alerts', text: 'Alerts' },
    ],
  },
  {
    text: 'Organizations',
    places: [
      { href: '/organizations', text: 'Organizations' },
      { href: '/invitations', text: 'Invitations' },
      { href: '/agents', text: 'Agents' },
      { href: '/skills', text: 'Skills' },
    ],
  },
  {
    text: 'System',
    places: [
      { href: '/keys', text: 'Keys' },
      { href: '/log', text: 'Transparency log' },
      { href: '/backup', text: 'Backup' },
      { href: '/open-points', text: 'Open points' },
      { href: '/settings', text: 'Settings', role: 'operator' },
    ],
  },
  {
    text: 'Access',
    places: [
      { href: '/operators', text: 'Operators' },
      { href: '/sessions', text: 'Sessions', role: 'administrator' },
      { href: '/operator-log', text: 'Operator log' },
    ],
  },
]

/** Paths below which pages of a place are, beside its own. */
const FURTHER_PATHS: Readonly<Record<string, string>> = { '/threads': '/packages', '/replay': '/deliveries' }

export function navigationFor(
  operator: Operator,
  path: string,
): { readonly sections: readonly NavigationItem[]; readonly places: readonly NavigationItem[] } {
  const current = placeOf(path)
  const isHere = ({ places }: Section) => places.some(({ href }) => href === current)
  const sections = SECTIONS.map((section) => ({
    href: section.places[0]?.href ?? '/',
    text: section.text,
    isCurrent: isHere(section),
  }))
  const places = (SECTIONS.find(isHere)?.places ?? []).filter(({ role }) =>
    hasRole(operator, role ?? 'viewer'),
  )
  return {
    sections,
    places:
      places.length > 1 ? places.map(({ href, text }) => ({ href, text, isCurrent: href === current })) : [],
  }
}

function placeOf(path: string): string {
  const first = `/${path.split('/')[1] ?? ''}`
  return FURTHER_PATHS[first] ?? first
}
