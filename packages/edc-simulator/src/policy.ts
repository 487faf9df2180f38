import {
  asText,
  EDC,
  fullName,
  localName,
  type Node,
  nodesOf,
  textOf,
} from '@agent-exchange/edc/management-api'
import type { Policy, Rule } from './records.ts'

/** Names for which this connector has a function. Any other condition is passed over, as EDC does. */
const PARTICIPANT: ReadonlySet<string> = new Set(['BusinessPartnerNumber', 'participantId'])

export function readPolicy(node: Node): Policy {
  return {
    permissions: nodesOf(node, 'permission').map(readRule),
    prohibitions: nodesOf(node, 'prohibition').map(readRule),
    obligations: nodesOf(node, 'obligation').map(readRule),
  }
}

function readRule(node: Node): Rule {
  return {
    action: localName(textOf(node, 'action') ?? ''),
    constraints: nodesOf(node, 'constraint').map((constraint) => ({
      property: textOf(constraint, 'leftOperand') ?? '',
      operator: localName(textOf(constraint, 'operator') ?? ''),
      value: asText(constraint['rightOperand']) ?? textOf(constraint, 'rightOperand') ?? '',
    })),
  }
}

export function writePolicy(policy: Policy): Node {
  return {
    'odrl:permission': single(policy.permissions.map(writeRule)),
    'odrl:prohibition': single(policy.prohibitions.map(writeRule)),
    'odrl:obligation': single(policy.obligations.map(writeRule)),
  }
}

function writeRule({ action, constraints }: Rule): Node {
  const written = constraints.map(({ property, operator, value }) => ({
    'odrl:leftOperand': { '@id': property },
    'odrl:operator': { '@id': `odrl:${operator}` },
    'odrl:rightOperand': value,
  }))
  return {
    'odrl:action': { '@id': `odrl:${action}` },
    ...(written.length > 0 && { 'odrl:constraint': single(written) }),
  }
}

/** To the letter, but for the spelling of names: that is how strict EDC is. */
export function samePolicy(left: Policy, right: Policy): boolean {
  return JSON.stringify(spelled(left)) === JSON.stringify(spelled(right))
}

function spelled({ permissions, prohibitions, obligations }: Policy): unknown {
  return [permissions, prohibitions, obligations].map((rules) =>
    rules.map(({ action, constraints }) => [
      action,
      constraints.map(({ property, operator, value }) => [fullName(property, EDC), operator, value]),
    ]),
  )
}

/** Whether a participant may see and negotiate it. */
export function admits({ permissions }: Policy, participantId: string): boolean {
  return permissions
    .flatMap(({ constraints }) => constraints)
    .filter(({ property, operator }) => PARTICIPANT.has(localName(property)) && operator === 'eq')
    .every(({ value }) => value === participantId)
}

/** A list of one is written as a single value, as EDC does, so that readers must accept both. */
export function single<T>(values: readonly T[]): T | readonly T[] {
  const [only] = values
  return values.length === 1 && only !== undefined ? only : values
}
