/** A request of the agent under test. */
export interface AgentRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

/** What the scripted exchange answers to it. */
export interface Reply {
  readonly status: number
  readonly body: unknown
}
