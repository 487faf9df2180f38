import type { ResponseObject } from '@agent-exchange/protocol'
import { isCounted, isOf, leadQuote, type CountedPackage, type StoryPackage } from './readable-package.ts'
import type { AnsweredPackage, Source } from './story-types.ts'

export type Response = CountedPackage<ResponseObject>

/** Which package answers which. */
export interface Answers {
  /** Responses that count, oldest first. */
  readonly responses: readonly Response[]
  /** The package that a response answers, where this reader has a record of it. */
  answeredBy(response: StoryPackage): StoryPackage | undefined
  about(response: Response): AnsweredPackage
  /** Id of the package that an id of a package or of an object names. */
  packageOf(id: string): string
  /** Whether an organization has answered a package and not revoked the answer. */
  isAnswered(packageId: string, by: string): boolean
  /** Organizations that answered a package with `agree`. */
  agreeing(packageId: string): readonly string[]
  /** The newest later `agree` of the company that sent a package. */
  laterAgreement(from: StoryPackage): Source | undefined
}

export function indexAnswers(packages: readonly StoryPackage[]): Answers {
  const byId = new Map<string, StoryPackage>()
  // A response may name the object instead of the package around it (PKG-09). Package ids win.
  for (const each of packages) if (each.object) byId.set(each.object.id, each)
  for (const each of packages) byId.set(each.record.packageId, each)

  const answeredBy = (response: StoryPackage) => {
    const id = answeredId(response)
    return id === undefined ? undefined : byId.get(id)
  }
  const responses = packages.filter(isCounted).filter(isOf('response_object'))
  const answered = new Set(
    packages.flatMap((each) => {
      const to = each.isRevoked ? undefined : answeredBy(each)
      return to ? [pairOf(to.record.packageId, each.source.by.organizationId)] : []
    }),
  )
  const agreements = responses.filter(({ object }) => object.response_actions.includes('agree'))
  const agreeing = Map.groupBy(agreements, (each) => answeredBy(each)?.record.packageId)
  // Later ones replace earlier ones.
  const newest = new Map(agreements.map((each) => [each.source.by.organizationId, each]))
  const order = new Map(packages.map((each, index) => [each, index]))

  return {
    responses,
    answeredBy,
    about: (response) => {
      const to = answeredBy(response)
      const lead = to && leadQuote(to)
      const packageId = to?.record.packageId ?? answeredId(response) ?? ''
      return { packageId, isRevoked: to?.isRevoked ?? false, ...(lead && { lead }) }
    },
    packageOf: (id) => byId.get(id)?.record.packageId ?? id,
    isAnswered: (packageId, by) => answered.has(pairOf(packageId, by)),
    agreeing: (packageId) => [
      ...new Set((agreeing.get(packageId) ?? []).map(({ source }) => source.by.organizationId)),
    ],
    laterAgreement: (from) => {
      const found = newest.get(from.source.by.organizationId)
      return found && (order.get(found) ?? 0) > (order.get(from) ?? 0) ? found.source : undefined
    },
  }
}

function answeredId({ record, object }: StoryPackage): string | undefined {
  if (record.respondsTo !== undefined) return record.respondsTo
  return object?.object_type === 'response_object' ? object.responds_to_package_id : undefined
}

/** Package ids have no blank (O-14). */
function pairOf(packageId: string, organizationId: string): string {
  return `${packageId} ${organizationId}`
}
