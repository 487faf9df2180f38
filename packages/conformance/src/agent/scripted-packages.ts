import { generateKeyPair, importPublicJwk, signDetached } from '@agent-exchange/crypto'
import { type AgentIdentity, keyBody, newIdentity } from '../service/agent.ts'
import { type Deviation, draftPackage } from '../service/draft.ts'
import { isObject } from '../wire/wire.ts'
import type { AgentRequest, Reply } from './agent-request.ts'
import { scriptedObject } from './scripted-object.ts'

type Members = Readonly<Record<string, unknown>>

/** A package of the script; each change breaks or bends one thing. */
export interface PackageScript extends Deviation {
  /** Changes the object before it is sealed. */
  readonly object?: (object: Record<string, unknown>) => unknown
  /** Changes what the exchange shows, after everything was signed. */
  readonly envelope?: (envelope: Record<string, string>) => object
  readonly resource?: (resource: Record<string, unknown>) => object
  readonly shownReceipt?: (receipt: Record<string, unknown>) => object
  /** The id of the object inside, if not that of the package. */
  readonly objectId?: string
}

interface Scripted {
  readonly resource: object
  readonly envelope: string
  readonly receipt: object
  readonly evidence: object
}

/** The key ids of the sender that must not count. */
export interface SenderKeys {
  readonly revoked: AgentIdentity['signing']
  readonly unregistered: AgentIdentity['signing']
  /** Registered for encryption. */
  readonly forEncryption: AgentIdentity['signing']
}

export interface ScriptedPackagesOptions {
  readonly baseUrl: string
  readonly organizationId: string
  readonly agentId: string
  readonly registration: () => Members | undefined
  readonly newId: (prefix: string) => string
}

const SENDER_ORGANIZATION = 'org_conformance_sender'
const PLATFORM_AGENT = 'agent_platform'
/** One alphanumeric character and 127 more. */
const LONGEST_TAIL = 128
const DAY_MS = 86_400_000
/** Dates of a directory never move, so they are counted from the start of the kit. */
const STARTED = Date.now()
const daysAgo = (days: number) => new Date(STARTED - days * DAY_MS).toISOString()
const encoder = new TextEncoder()

/** The packages that wait for the agent under test, their sender, and the receipts that the agent signs. */
export class ScriptedPackages {
  /** Receipts by package, in the order of arrival. */
  readonly receipts = new Map<string, AgentRequest['body'][]>()
  readonly keys: SenderKeys
  readonly #options: ScriptedPackagesOptions
  readonly #sender: AgentIdentity
  readonly #platform: AgentIdentity
  readonly #packages = new Map<string, Scripted>()

  private constructor(
    options: ScriptedPackagesOptions,
    sender: AgentIdentity,
    platform: AgentIdentity,
    keys: SenderKeys,
  ) {
    this.#options = options
    this.#sender = sender
    this.#platform = platform
    this.keys = keys
  }

  static async make(options: ScriptedPackagesOptions): Promise<ScriptedPackages> {
    const { newId } = options
    const key = async () => ({ keyId: newId('sig'), pair: await generateKeyPair('signing') })
    return new ScriptedPackages(options, await newIdentity(newId), await newIdentity(newId), {
      revoked: await key(),
      unregistered: await key(),
      forEncryption: await key(),
    })
  }

  /** As long as an identifier may be. */
  longId(prefix: string): string {
    return this.#options.newId(prefix).padEnd(prefix.length + 1 + LONGEST_TAIL, 'x')
  }

  get signingKeyId(): string {
    return this.#sender.signing.keyId
  }

  /** Makes a package for the agent and returns its id. */
  async add(script: PackageScript = {}): Promise<{ packageId: string; digest: string; object: unknown }> {
    const { newId, organizationId } = this.#options
    const createdAt = new Date(Date.now() - 1_000).toISOString()
    const routing = { package_id: newId('pkg'), thread_id: newId('thread'), ...script.metadata }
    const base = scriptedObject({
      packageId: script.objectId ?? routing.package_id,
      threadId: routing.thread_id,
      createdAt,
      senderOrganizationId: SENDER_ORGANIZATION,
      senderAgentId: this.#sender.agentId,
      recipientOrganizationId: organizationId,
    })
    const object = script.object?.(base) ?? base
    const drafting = { newId, now: () => createdAt, openPoints: {} }
    const author = { ...this.#sender, organization: { organizationId: SENDER_ORGANIZATION } }
    const draft = await draftPackage(drafting, author, await this.#recipient(), {
      ...script,
      plaintext: script.plaintext ?? encoder.encode(JSON.stringify(object)),
      metadata: { ...script.metadata, ...routing },
    })
    const digest = String(draft.metadata['content_digest'])
    await this.#keep(draft, script)
    return { packageId: draft.packageId, digest, object }
  }

  async #keep(draft: Awaited<ReturnType<typeof draftPackage>>, script: PackageScript): Promise<void> {
    const { packageId, metadata } = draft
    const times = { created_at: metadata['created_at'], updated_at: metadata['created_at'] }
    const resource = {
      package_id: packageId,
      thread_id: draft.threadId,
      transport_mode: 'native',
      state: 'encrypted_available',
      ...times,
      metadata,
      ciphertext_download_url: `${this.#options.baseUrl}/content/packages/${packageId}`,
    }
    const body = draft.body as Record<string, string>
    this.#packages.set(packageId, {
      resource: script.resource?.(resource) ?? resource,
      envelope: JSON.stringify(script.envelope?.(body) ?? body),
      receipt: {
        receipt: script.shownReceipt?.({ ...draft.receipt }) ?? draft.receipt,
        accepted_at: metadata['created_at'],
        signature_status: 'verified',
        package_authorization: 'eligible',
        audit_event_id: this.#options.newId('audit'),
      },
      evidence: await this.#evidence(draft.receipt, metadata, script.signedBy ?? this.#sender.signing),
    })
  }

  /** The shape of evidence is an open point (O-07); this one is the smallest that known agents read. */
  async #evidence(receipt: Members, metadata: Members, by: AgentIdentity['signing']): Promise<object> {
    const statement = {
      package_id: metadata['package_id'],
      content_digest: metadata['content_digest'],
      signing_key_id: by.keyId,
      accepted_at: new Date().toISOString(),
    }
    const { keyId, pair } = this.#platform.signing
    const signature = await signDetached(statement, { key: pair.privateKey, keyId, member: 'signature' })
    return {
      package_id: metadata['package_id'],
      entries: [
        {
          proof: {
            kind: 'policy_receipt_accepted',
            policy_receipt_id: receipt['policy_receipt_id'],
            accepted_at: metadata['created_at'],
          },
        },
        { proof: { kind: 'package_accepted', acceptance: { ...statement, signature } } },
      ],
      next_cursor: null,
      has_more: false,
    }
  }

  /** The encryption key that the agent registered. */
  async #recipient() {
    const { registration, organizationId, agentId } = this.#options
    const given: unknown = registration()?.['keys']
    const key = (Array.isArray(given) ? given.filter(isObject) : []).find(({ use }) => use === 'encryption')
    if (!key) throw new Error('the agent registered no encryption key')
    const publicKey = await importPublicJwk(key['public_key'], { use: 'encryption' })
    return {
      agentId,
      organization: { organizationId },
      encryption: { keyId: String(key['key_id']), pair: { publicKey } },
    }
  }

  /** Undefined for what is no package, sender or receipt. */
  answer(method: string, path: string, body: AgentRequest['body']): Reply | undefined {
    const found = (pattern: RegExp) => decodeURIComponent(pattern.exec(path)?.[1] ?? '')
    if (method === 'POST') {
      const packageId = found(/^\/v1\/packages\/([^/]+)\/receipts$/u)
      return this.#packages.has(packageId) ? this.#receipt(packageId, body) : undefined
    }
    const asked =
      this.#packages.get(found(/^\/v1\/packages\/([^/]+)$/u))?.resource ??
      this.#packages.get(found(/^\/content\/packages\/([^/]+)$/u))?.envelope ??
      this.#packages.get(found(/^\/v1\/audit\/packages\/([^/]+)$/u))?.evidence ??
      this.#receiptResource(found(/^\/v1\/policy-receipts\/([^/]+)$/u)) ??
      this.#directory(found(/^\/v1\/directory\/agents\/([^/]+)\/keys$/u))
    return asked === undefined ? undefined : { status: 200, body: asked }
  }

  #receipt(packageId: string, body: AgentRequest['body']): Reply {
    this.receipts.set(packageId, [...(this.receipts.get(packageId) ?? []), body])
    return {
      status: 201,
      body: { ...body, package_id: packageId, accepted_at: new Date().toISOString() },
    }
  }

  #receiptResource(policyReceiptId: string): object | undefined {
    const resources = [...this.#packages.values()].map(({ receipt }) => receipt as { receipt: Members })
    return resources.find(({ receipt }) => receipt['policy_receipt_id'] === policyReceiptId)
  }

  #directory(agentId: string): object | undefined {
    const isPlatform = agentId === PLATFORM_AGENT
    if (!isPlatform && agentId !== this.#sender.agentId) return undefined
    const { signing, encryption } = isPlatform ? this.#platform : this.#sender
    const stored = { status: 'active', registered_at: daysAgo(20) }
    const revoked = { status: 'revoked', revoked_at: daysAgo(1), invalid_from: daysAgo(10) }
    return {
      directory_version: '1',
      generated_at: new Date().toISOString(),
      organization_id: isPlatform ? 'org_platform' : SENDER_ORGANIZATION,
      agent_id: agentId,
      keys: [
        { ...keyBody(signing, 'signing'), ...stored },
        { ...keyBody(encryption, 'encryption'), ...stored },
        ...(isPlatform
          ? []
          : [
              { ...keyBody(this.keys.revoked, 'signing'), ...stored, ...revoked },
              { ...keyBody(this.keys.forEncryption, 'encryption'), ...stored },
            ]),
      ],
    }
  }
}
