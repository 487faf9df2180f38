import type { ContractCondition, ContractTerms } from '@agent-exchange/sdk'
import { asText, nodesOf, textOf, valuesOf, type Node } from './json-ld-reader.ts'
import { localName } from './vocabulary.ts'

/** How deep conditions may be grouped before the terms count as unreadable. */
const DEEPEST = 8

/** An offer in the plain terms of the port. */
export function termsOf(offer: Node): ContractTerms {
  const permissions = nodesOf(offer, 'permission')
  return {
    permittedActions: permissions.flatMap(actionsOf),
    conditions: permissions.flatMap((permission) => conditionsOf(permission, DEEPEST)),
    prohibitions: nodesOf(offer, 'prohibition').length,
    obligations:
      nodesOf(offer, 'obligation').length + permissions.flatMap((rule) => nodesOf(rule, 'duty')).length,
  }
}

/** Default terms: use under conditions, without prohibitions or obligations. */
export function acceptPlainUse({ permittedActions, prohibitions, obligations }: ContractTerms): boolean {
  return prohibitions === 0 && obligations === 0 && permittedActions.includes('use')
}

function actionsOf(permission: Node): readonly string[] {
  return valuesOf(permission, 'action')
    .map(
      (action) => asText(action) ?? asText(typeof action === 'object' ? (action as Node)['type'] : undefined),
    )
    .filter((action) => action !== undefined)
    .map(localName)
}

function conditionsOf(rule: Node, depth: number): readonly ContractCondition[] {
  if (depth === 0) return [{ property: 'nested too deep', operator: 'eq', value: '' }]
  return nodesOf(rule, 'constraint').flatMap((constraint) => {
    const groups = ['and', 'or', 'xone', 'andSequence'].flatMap((name) => nodesOf(constraint, name))
    if (groups.length > 0) return groups.flatMap((member) => conditionsOf({ constraint: member }, depth - 1))
    return [
      {
        property: textOf(constraint, 'leftOperand') ?? '',
        operator: localName(textOf(constraint, 'operator') ?? ''),
        value: textOf(constraint, 'rightOperand') ?? '',
      },
    ]
  })
}
