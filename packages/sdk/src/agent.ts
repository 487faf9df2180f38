import type { Disclosure } from '@agent-exchange/log'
import type { AgentResource, PublicKey } from '@agent-exchange/protocol'
import { agentFingerprint } from './agent-keys/fingerprint.ts'
import { registerAgent, type Registration } from './agent-keys/register-agent.ts'
import { revokeKey, type KeyRevocation } from './agent-keys/revoke-key.ts'
import { rotateKey, type RotatedRole, type Rotation } from './agent-keys/rotate-key.ts'
import type { AgentContext, Identity } from './context.ts'
import { createContext, type ContextOptions } from './create-context.ts'
import { createMemoryOutbox } from './outbox/memory-outbox.ts'
import type { OpenDependencies, OpenedPackage } from './open/open-input.ts'
import { openPackage } from './open/open-package.ts'
import type { Outbox } from './outbox/outbox.ts'
import { readThread, type ReadThreadOptions } from './connection/read-thread.ts'
import { respondToPackage } from './send/respond-to-package.ts'
import { resumeOutbox, type Resumption } from './send/resume-outbox.ts'
import { revokePackage, type RevokedPackage, type RevokeInput } from './send/revoke-package.ts'
import type { Approve, RespondInput, SendInput, SendOptions, SentPackage } from './send/send-input.ts'
import { sendPackage } from './send/send-package.ts'
import type { DataSpace } from './data-space/data-space.ts'
import type { EvidenceSubject } from './evidence/package-evidence.ts'
import { checkLog } from './log/accept-checkpoint.ts'
import { disclosePackage } from './open/disclose-package.ts'
import { readCapsule, type CollectedCapsule } from './evidence/read-capsule.ts'
import { readEarlierCapsule, type EarlierCapsule } from './evidence/read-earlier-capsule.ts'
import type { WaitForLog } from './evidence/wait-for-log.ts'
import { makersOf, type Makers } from './objects/makers.ts'
import type { PeerPins } from './peers/peer-directory.ts'
import type { PackageHandler } from './receive/package-handler.ts'
import { createPackageReceiver, type PackageReceiverOptions } from './receive/package-receiver.ts'
import { createReceiver, type Receiver, type ReceiverOptions } from './receive/receiver.ts'
import { completeTerms, type SendDefaults, type WithDefaults } from './send/send-defaults.ts'

export interface ConnectOptions extends ContextOptions {
  /** Holds sealed packages until they are accepted. Defaults to memory, which a crash loses. */
  readonly outbox?: Outbox
  /** Connector and participants of a data space, for ds_x threads. */
  readonly dataSpace?: DataSpace
  /** Called if a policy requires a human approval and the call has no `approve` of its own. */
  readonly approve?: Approve
  /** Policy and skill of calls that name none. */
  readonly defaults?: SendDefaults
  /** Request the first token with the first call, so that an agent starts while the exchange is unreachable. */
  readonly lazily?: boolean
}

export interface CapsuleOptions extends WaitForLog {
  /** Packages whose content whoever gets the capsule can read. */
  readonly disclose?: readonly string[]
  /** Whose packages are collected. Defaults to those of the organization. */
  readonly of?: 'organization' | 'agent'
}

export type OpenOptions = Omit<OpenDependencies, 'dataSpace' | 'outbox'>

/** An agent that is connected to an exchange. */
export interface Agent {
  readonly identity: Identity
  /** For `@agent-exchange/sdk/internal`, which promises nothing. */
  readonly context: AgentContext

  register(registration: Registration): Promise<AgentResource>
  rotateKey(role: RotatedRole): Promise<Rotation>
  revokeKey(keyId: string, revocation: KeyRevocation): Promise<PublicKey>
  /** For comparison over another channel. */
  fingerprint(): Promise<string>
  /** Pins the fingerprint of another agent before its keys are first used. */
  trust(agentId: string, fingerprint: string): Promise<PeerPins>
  /** An access token, to try the API by hand. */
  token(): Promise<string>

  /** Policy and skill of calls that name none. */
  readonly defaults: SendDefaults
  /** Makers of the six objects, as written by this agent under its default policy. */
  readonly make: Makers
  send(input: WithDefaults<SendInput>, options?: SendOptions): Promise<SentPackage>
  respond(packageId: string, input: WithDefaults<RespondInput>, options?: SendOptions): Promise<SentPackage>
  /** Sends what an earlier process sealed and did not see accepted. Call it at start-up. */
  resume(options?: SendOptions): Promise<Resumption>
  open(packageId: string, options?: OpenOptions): Promise<OpenedPackage>
  revoke(packageId: string, input: RevokeInput): Promise<RevokedPackage>

  thread(threadId: string, options?: ReadThreadOptions): ReturnType<typeof readThread>
  /** Evidence with its proofs from the transparency log. */
  capsule(subject: EvidenceSubject, options?: CapsuleOptions): Promise<CollectedCapsule>
  /** The same for packages from before version 2 of the evidence. */
  earlierCapsule(subject: EvidenceSubject, wait?: WaitForLog): Promise<EarlierCapsule>
  /** Demands that the log continues what this agent has seen of it. */
  checkLog(): ReturnType<typeof checkLog>
  receiver<Transaction>(options: ReceiverOptions<Transaction>): Receiver
  /**
   * Handles each package that is addressed to this agent once, verified and opened, in stream order and across
   * restarts. Start the returned receiver.
   */
  onPackage<Transaction>(
    handle: PackageHandler<Transaction>,
    options: PackageReceiverOptions<Transaction>,
  ): Receiver
}

/**
 * Connects an agent: discovers the authorization server, requests a token, and returns the agent with its methods.
 *
 * @example
 * const keys = createMemoryKeyStore()
 * const agent = await connect({
 *   baseUrl: 'https://exchange.example',
 *   clientId: 'client_1',
 *   identity: { organizationId: 'org_acme', agentId: 'agent_planner' },
 *   keys,
 * })
 * const { packageId } = await agent.send({ object, policy, to, skill })
 */
export async function connect(options: ConnectOptions): Promise<Agent> {
  const { outbox = createMemoryOutbox(), dataSpace, approve, defaults = {}, lazily = false } = options
  const context = createContext(options)
  if (!lazily) {
    await context.connection.token()
    await context.deployment.refresh()
  }
  const shared = { outbox, ...(dataSpace && { dataSpace }) }
  return {
    identity: context.identity,
    context,
    register: (registration) => registerAgent(context, registration),
    rotateKey: (role) => rotateKey(context, role),
    revokeKey: (keyId, revocation) => revokeKey(context, keyId, revocation),
    fingerprint: () => agentFingerprint(context.keys),
    trust: (agentId, fingerprint) => context.peers.trust(agentId, fingerprint),
    token: () => context.connection.token(),
    defaults,
    make: makersOf(() => ({
      by: context.identity,
      now: context.now(),
      ...(defaults.policy && { policy: defaults.policy }),
    })),
    send: async (input, how = {}) =>
      sendPackage(context, asking(completeTerms(input, defaults), approve), { ...shared, ...how }),
    respond: async (packageId, input, how = {}) =>
      respondToPackage(context, packageId, asking(completeTerms(input, defaults), approve), {
        ...shared,
        ...how,
      }),
    resume: (how = {}) => resumeOutbox(context, { ...shared, ...how }),
    open: (packageId, how = {}) => openPackage(context, packageId, { ...shared, ...how }),
    revoke: (packageId, input) => revokePackage(context, packageId, input, shared),
    thread: (threadId, how) => readThread(context, threadId, how),
    capsule: async (subject, { disclose = [], ...wait } = {}) => {
      const disclosures = new Map<string, Disclosure>()
      for (const id of disclose) disclosures.set(id, await disclosePackage(context, id, shared))
      return readCapsule(context, subject, { ...wait, disclosures })
    },
    earlierCapsule: (subject, wait) => readEarlierCapsule(context, subject, wait),
    checkLog: () => checkLog(context),
    receiver: (how) => createReceiver(context, how),
    onPackage: (handle, how) =>
      createPackageReceiver(context, handle, { send: shared, defaults }, asking(how, approve)),
  }
}

function asking<Input extends { readonly approve?: Approve }>(
  input: Input,
  approve: Approve | undefined,
): Input {
  return approve && !input.approve ? { ...input, approve } : input
}
