import {
  addPerson,
  changeRoles,
  isDeskRole,
  listPeople,
  removePerson,
  renewLink,
  type Invited,
  type OpenGateway,
} from '@agent-exchange/gateway'
import { Command, InvalidArgumentError, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { actorOf } from './actor.ts'
import { gatewayLeaf, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

const ROLES = 'reader, planner, approver, auditor, administrator'

type Role = Parameters<typeof addPerson>[2]['roles'][number]

export function gatewayPersonCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Invite a person to the desk: prints a link that signs in once',
    'person add "Ida Berg" --role planner',
    'person add "Ada Lund" --role administrator,approver --email ada@company.example',
  )
    .argument('<name>', 'what colleagues call the person')
    .addOption(roleOption())
    .option('--email <address>', 'mail address of the person')
    .action(addOne)
  const list = gatewayLeaf('list', 'People who can sign in, with their roles', 'person list').action(listAll)
  const link = gatewayLeaf(
    'link',
    'A new link for an invited person, such as one who lost the passkey',
    'person link person_4f…',
  )
    .argument('<person_id>', 'see: aex gateway person list')
    .action(linkOne)
  const role = gatewayLeaf(
    'role',
    'Give an invited person other roles instead of the current ones',
    'person role person_4f… --role planner,approver',
  )
    .argument('<person_id>', 'see: aex gateway person list')
    .addOption(roleOption())
    .action(changeOne)
  const remove = gatewayLeaf('remove', 'Sign a person out everywhere, for good', 'person remove person_4f…')
    .argument('<person_id>', 'see: aex gateway person list')
    .action(removeOne)
  return new Command('person')
    .description('People who use the desk; every change is recorded')
    .addCommand(add)
    .addCommand(list)
    .addCommand(link)
    .addCommand(role)
    .addCommand(remove)
}

const roleOption = () =>
  new Option('--role <roles>', `separated by commas: ${ROLES}`).argParser(readRoles).makeOptionMandatory()

function readRoles(text: string): readonly Role[] {
  const given = text.split(',').map((each) => each.trim())
  const roles = given.filter(isDeskRole)
  if (roles.length < given.length) throw new InvalidArgumentError(`Use ${ROLES}.`)
  return roles
}

async function addOne(
  name: string,
  { role, email, json }: Json & { role: readonly Role[]; email?: string },
): Promise<void> {
  await withGateway(async (gateway) => {
    const person = { name, roles: role, ...(email !== undefined && { email }) }
    const invited = await addPerson(gateway.db, gateway.now(), person, actorOf())
    showLink(gateway, invited, `${name} has the role ${role.join(', ')}.`, json)
  })
}

async function linkOne(personId: string, { json }: Json): Promise<void> {
  await withGateway(async (gateway) => {
    const invited = await renewLink(gateway.db, gateway.now(), personId, actorOf())
    showLink(
      gateway,
      invited,
      'Earlier links stopped working, and the person is signed out everywhere.',
      json,
    )
  })
}

function showLink(
  { config }: OpenGateway,
  { personId, link }: Invited,
  sentence: string,
  json?: boolean,
): void {
  const url = `${config.publicUrl}/enter?link=${link}`
  if (json) return console.log(visibleJson({ person_id: personId, link: url }))
  console.log(visible(sentence))
  console.log(`  person  ${personId}`)
  console.log(`  link    ${url}   (works once, within a day)`)
}

async function listAll({ json }: Json): Promise<void> {
  const people = await withGateway(({ db }) => everybody(db))
  const rows = people.map(({ id, name, email, roles, isOfProvider }) => ({
    person_id: id,
    name,
    ...(email !== undefined && { email }),
    roles,
    signs_in_by: isOfProvider ? 'identity provider' : 'invitation',
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0)
    console.log(
      `Nobody yet. Invite somebody: ${aexStep('gateway', 'person', 'add', 'NAME', '--role', 'planner')}`,
    )
  for (const { person_id, name, roles, signs_in_by } of rows)
    console.log(visible(`${name}  ${person_id}  ${roles.join(', ')}  ${signs_in_by}`))
}

async function everybody(db: OpenGateway['db']) {
  const people: Awaited<ReturnType<typeof listPeople>>['rows'][number][] = []
  let after: string | undefined
  do {
    const { rows, next } = await listPeople(db, { after })
    people.push(...rows)
    after = next
  } while (after !== undefined)
  return people
}

async function changeOne(personId: string, { role, json }: Json & { role: readonly Role[] }): Promise<void> {
  await withGateway(({ db, now }) => changeRoles(db, personId, role, { actor: actorOf(), now: now() }))
  if (json) return console.log(visibleJson({ person_id: personId, roles: role }))
  console.log(visible(`${personId} has the role ${role.join(', ')}.`))
}

async function removeOne(personId: string, { json }: Json): Promise<void> {
  const wasThere = await withGateway(({ db, now }) => removePerson(db, now(), personId, actorOf()))
  if (!wasThere)
    throw new CommandFailure(
      `This gateway has no ${personId}. List people: ${aexStep('gateway', 'person', 'list')}`,
    )
  if (json) return console.log(visibleJson({ person_id: personId, removed: true }))
  console.log(visible(`${personId} was removed.`))
}
