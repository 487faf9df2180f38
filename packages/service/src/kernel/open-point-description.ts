import {
  OPEN_POINT_IDS,
  openPoints,
  type DeploymentProfile,
  type OpenPoint,
  type OpenPointId,
} from '@agent-exchange/protocol'

export interface DescribedOpenPoint {
  readonly id: OpenPointId
  readonly meaning: string
  readonly why: string
  readonly settings: readonly {
    readonly name: string
    readonly meaning: string
    readonly default: unknown
    readonly value: unknown
  }[]
}

/** Every open point of the specification with the default and the value in this deployment. */
export function describeOpenPoints(profile: DeploymentProfile): readonly DescribedOpenPoint[] {
  return OPEN_POINT_IDS.map((id) => {
    const { meaning, why, settings }: OpenPoint = openPoints[id]
    return {
      id,
      meaning,
      why,
      settings: Object.entries(settings.properties).map(([name, schema]) => ({
        name,
        meaning: String(Reflect.get(schema, 'description')),
        default: Reflect.get(schema, 'default') as unknown,
        value: Reflect.get(profile[id], name) as unknown,
      })),
    }
  })
}
