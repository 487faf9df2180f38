import type { Context, OpenPoints } from '../run/context.ts'
import { type Draft, draftPackage, receiptStatement, send } from './draft.ts'
import { DIGEST_RULES, digestRuleOf, STATEMENT_FORMS, statementFormOf } from './open-point-choices.ts'
import { pathOf } from './operations.ts'

/**
 * A service need not publish its decisions. Which digests (O-17) and signatures of receipts (O-22) it takes then shows
 * in what it accepts; without that, everything that follows from a package would fail.
 */
export async function probeOpenPoints(context: Context): Promise<OpenPoints> {
  const { openPoints } = context
  if (digestRuleOf(openPoints) !== undefined && statementFormOf(openPoints) !== undefined) return openPoints
  const digests = digestRuleOf(openPoints) === undefined ? DIGEST_RULES : [undefined]
  for (const rule of digests) {
    const decided =
      rule === undefined ? openPoints : withChoice(openPoints, 'O-17', 'content_digest_rules', rule)
    const draft = await draftPackage({ ...context, openPoints: decided }, context.sender, context.recipient)
    if ((await send(context.sender, draft)).status === 202)
      return probeForms({ ...context, openPoints: decided }, draft)
  }
  return openPoints
}

async function probeForms(context: Context, draft: Draft): Promise<OpenPoints> {
  const { openPoints, recipient } = context
  if (statementFormOf(openPoints) !== undefined) return openPoints
  const path = pathOf('createPackageReceipt', { package_id: draft.packageId })
  for (const form of STATEMENT_FORMS) {
    const decided = withChoice(openPoints, 'O-22', 'accepted_forms', form)
    const statement = await receiptStatement(
      { ...context, openPoints: decided },
      recipient,
      draft,
      'received',
    )
    if ((await recipient.organization.call('POST', path, statement)).status === 201) return decided
  }
  return openPoints
}

const withChoice = (openPoints: OpenPoints, id: string, setting: string, choice: string): OpenPoints => ({
  ...openPoints,
  [id]: { ...openPoints[id], [setting]: [choice] },
})
