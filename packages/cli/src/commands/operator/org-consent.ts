import { InvalidArgumentError, Option, type Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { consentReport, type Consent } from './consent-report.ts'
import { change, pathOf, read, type Answer } from './operator-api.ts'
import {
  list,
  listCommand,
  operatorCommand,
  optionalReasonOption,
  type ListOptions,
  type OutputOptions,
} from './operator-command.ts'

/** Whose packages an organization accepts (O-50), and how much it may send in a day (O-13). */
export function orgConsentCommands(): Command[] {
  return [acceptCommand(), blockCommand(), unblockCommand(), sendersCommand(), quotaCommand()]
}

interface AcceptOptions extends OutputOptions {
  readonly only?: boolean
  readonly anyone?: boolean
  readonly default?: boolean
  readonly remove?: boolean
  readonly reason?: string
}

function acceptCommand(): Command {
  return operatorCommand(
    'accept',
    'Set from which organizations an organization accepts packages; without options, show it',
    'org accept org_acme',
    'org accept org_acme org_bolt org_coil --only',
    'org accept org_acme --anyone',
    'org accept org_acme org_coil --remove --reason "contract ended"',
  )
    .argument('<org_id>', 'id of the organization that receives')
    .argument('[sender_org_id...]', 'organizations for its list of accepted senders')
    .addOption(
      new Option('--only', 'accept packages from the listed organizations only').conflicts([
        'anyone',
        'default',
      ]),
    )
    .addOption(new Option('--anyone', 'accept packages from anyone who is not blocked').conflicts('default'))
    .option('--default', 'accept packages as the deployment profile says (O-50)')
    .addOption(new Option('--remove', 'take the named organizations off the list').conflicts(['only']))
    .addOption(optionalReasonOption())
    .action(async (id: string, senders: string[], options: AcceptOptions) => {
      const { only, anyone, default: byDefault, remove, reason, json } = options
      const accepts_from = only ? 'listed' : anyone ? 'anyone' : byDefault ? 'default' : undefined
      if (remove && senders.length === 0) throw new CommandFailure('Name the organizations to remove.')
      if (accepts_from === undefined && senders.length === 0) return showConsent(await readConsent(id), json)
      const consent = await changeConsent(id, {
        ...(accepts_from && { accepts_from }),
        ...(senders.length > 0 && { [remove ? 'remove' : 'accept']: senders }),
        reason,
      })
      showConsent(consent, json)
      if (senders.length > 0 && !remove && consent['accepts_from'] === 'anyone')
        console.error(
          `${id} still accepts packages from anyone. To accept the listed ones only: ${aexStep('org', 'accept', id, '--only')}`,
        )
    })
}

function blockCommand(): Command {
  return operatorCommand(
    'block',
    'Refuse further packages of other organizations to an organization; answers to what it sent still pass',
    'org block org_acme org_spam --reason "1,500 packages in an hour"',
  )
    .argument('<org_id>', 'id of the organization that receives')
    .argument('<sender_org_id...>', 'organizations to block')
    .addOption(optionalReasonOption())
    .action(async (id: string, block: string[], { reason, json }: OutputOptions & { reason?: string }) => {
      showConsent(await changeConsent(id, { block, reason }), json)
    })
}

function unblockCommand(): Command {
  return operatorCommand(
    'unblock',
    'Take organizations off the list of blocked ones',
    'org unblock org_acme org_spam',
  )
    .argument('<org_id>', 'id of the organization that receives')
    .argument('<sender_org_id...>', 'blocked organizations')
    .addOption(optionalReasonOption())
    .action(async (id: string, remove: string[], { reason, json }: OutputOptions & { reason?: string }) => {
      showConsent(await changeConsent(id, { remove, reason }), json)
    })
}

function sendersCommand(): Command {
  return listCommand(
    'senders',
    'List the organizations that an organization accepts or blocks by name',
    'org senders org_acme',
    'org senders org_acme --rule block --json',
  )
    .argument('<org_id>', 'id of the organization that receives')
    .addOption(new Option('--rule <rule>', 'only one of the two lists').choices(['accept', 'block']))
    .action((id: string, { rule, ...options }: ListOptions & { rule?: string }) => {
      const columns = ['sender_org_id', 'name', 'rule', 'changed_at']
      return list(`${pathOf('organizations', id)}/senders`, { rule }, columns, options)
    })
}

type PerDay = number | 'unlimited' | 'default'

interface QuotaOptions extends OutputOptions {
  readonly packagesPerDay?: PerDay
  readonly threadsPerDay?: PerDay
  readonly reason?: string
}

function quotaCommand(): Command {
  return operatorCommand(
    'quota',
    'Limit what an organization may send in a UTC day; without options, show it',
    'org quota org_acme --packages-per-day 500 --threads-per-day 50',
    'org quota org_acme --packages-per-day unlimited',
    'org quota org_acme --json',
  )
    .argument('<org_id>', 'id of the organization that sends')
    .addOption(perDayOption('packages', 'packages without responses'))
    .addOption(perDayOption('threads', 'new threads'))
    .addOption(optionalReasonOption())
    .action(async (id: string, { packagesPerDay, threadsPerDay, reason, json }: QuotaOptions) => {
      if (packagesPerDay === undefined && threadsPerDay === undefined)
        return showConsent(await readConsent(id), json)
      const quotas = { packages_per_day: packagesPerDay, threads_per_day: threadsPerDay, reason }
      showConsent(await change(`${pathOf('organizations', id)}/quotas`, quotas), json)
    })
}

function perDayOption(what: string, meaning: string): Option {
  const values = 'a number, "unlimited", or "default" for that of the deployment profile (O-13)'
  return new Option(`--${what}-per-day <number>`, `${meaning}: ${values}`).argParser(perDay)
}

function perDay(text: string): PerDay {
  if (text === 'unlimited' || text === 'default') return text
  if (/^\d{1,10}$/u.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number, unlimited or default.')
}

const readConsent = (id: string) => read(`${pathOf('organizations', id)}/consent`)
const changeConsent = (id: string, body: object) => change(`${pathOf('organizations', id)}/consent`, body)

function showConsent(consent: Answer, json = false): void {
  console.log(json ? JSON.stringify(consent, undefined, 2) : consentReport(consent as unknown as Consent))
}
