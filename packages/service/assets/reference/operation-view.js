import { badges, badgeTexts, disclosure, el, linkedBadges } from './elements.js'
import { examplesOf } from './examples.js'
import { resolve, nameOf } from './schema-facts.js'
import { rulesView, schemaView } from './schema-view.js'
import { tryForm } from './try-form.js'

/** Everything about one operation, made when it is opened. */
export function operationView(context, entry) {
  const { id, method, path, operation } = entry
  const head = [
    el('span', { class: `method ${method.toLowerCase()}` }, method),
    ' ',
    el('code', { class: 'path' }, path),
    ' ',
    el('span', { class: 'what' }, operation.summary),
  ]
  return disclosure(head, () => operationContent(context, entry), { class: 'operation', id })
}

function operationContent(context, entry) {
  const { id, operation, isWebhook } = entry
  const body = operation.requestBody?.content['application/json']
  const about = operation.description
    ? el('p', {}, operation.description)
    : el('p', { class: 'quiet' }, 'Operation ', el('code', {}, id))
  return [
    about,
    el('h3', {}, 'Parameters'),
    parametersView(context, entry.parameters),
    ...(body ? bodyView(context, body, operation.requestBody) : []),
    el('h3', {}, isWebhook ? 'What to answer' : 'Answers'),
    ...Object.entries(operation.responses).map(([status, response]) =>
      responseView(context, status, response),
    ),
    ...(isWebhook ? [] : [el('h3', {}, 'Try it'), tryForm(context, entry)]),
  ]
}

function bodyView(context, body, { description: limit }) {
  return [
    el('h3', {}, 'Request body'),
    ...(limit ? [el('p', { class: 'quiet' }, limit)] : []),
    namedSchema(context, body.schema),
    ...exampleViews(context, body),
  ]
}

/** Each example behind a line of its own: most are longer than what surrounds them. */
function exampleViews({ description }, content) {
  const examples = examplesOf(description, content)
  return examples.map(({ name, text }) =>
    disclosure([examples.length > 1 ? `Example: ${name}` : 'Example'], () => [exampleText(name, text)]),
  )
}

function exampleText(name, text) {
  return el('pre', { tabindex: '0', 'aria-label': `Example ${name}` }, text)
}

function parametersView(context, parameters) {
  const rows = parameters.map((parameter) =>
    el(
      'tr',
      {},
      el('td', {}, el('code', {}, parameter.name)),
      el('td', {}, parameter.in),
      el('td', {}, parameter.required ? 'required' : 'optional'),
      el(
        'td',
        {},
        el('p', {}, parameter.description ?? parameter.schema.description ?? ''),
        ...rulesView(parameter.schema),
        ...badges(parameter.schema['x-open-point'], context.meanings),
      ),
    ),
  )
  const head = ['Name', 'In', 'Presence', 'Meaning'].map((text) => el('th', {}, text))
  return el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))
}

function namedSchema(context, schema) {
  const { meanings } = context
  const note = resolve(context.description, schema)['x-open-point']
  const head = [el('code', {}, nameOf(schema) ?? 'body'), ' ', ...badgeTexts(note, meanings)]
  const inside = () => [...linkedBadges(note, meanings), schemaView(context, schema)]
  return disclosure(head, inside, { open: true })
}

function responseView(context, status, response) {
  const problem = response.content?.['application/problem+json']
  const answer = response.content?.['application/json']
  const { meanings } = context
  const note = response['x-open-point']
  const tone = status.startsWith('2') ? 'good' : 'bad'
  const head = [el('strong', { class: tone }, status), ' ']
  if (problem) return problemsView(context, problem, { head, note, response })
  if (!answer) return el('p', {}, ...head, response.description, ' ', ...badges(note, meanings))
  const own = resolve(context.description, answer.schema)['x-open-point']
  const name = el('code', {}, nameOf(answer.schema) ?? '')
  return disclosure([...head, name, ' ', ...badgeTexts(own, meanings)], () => [
    ...linkedBadges(own, meanings),
    schemaView(context, answer.schema),
    ...exampleViews(context, answer),
  ])
}

function problemsView(context, problem, { head, note, response }) {
  const codes = resolve(context.description, problem.schema).properties.code.enum
  const examples = new Map(examplesOf(context.description, problem).map(({ name, text }) => [name, text]))
  const { meanings } = context
  return disclosure([...head, codes.join(', '), ' ', ...badgeTexts(note, meanings)], () => [
    ...linkedBadges(note, meanings),
    el(
      'ul',
      {},
      ...codes.map((code) =>
        el(
          'li',
          {},
          ...problemView(context, code),
          disclosure(['Example'], () => [exampleText(code, examples.get(code) ?? '')]),
        ),
      ),
    ),
    ...Object.entries(response.headers ?? {}).map(([name, { description }]) =>
      el('p', {}, 'Header ', el('code', {}, name), `: ${description}`),
    ),
  ])
}

function problemView({ problems, meanings }, code) {
  const link = el('a', { href: `problems/${code.replaceAll('_', '-')}` }, el('code', {}, code))
  const known = problems.get(code)
  if (!known) return [link]
  const repeat = known.retryable ? ' It may be repeated.' : ''
  const basis = known.basis === 'specification' ? ['(fixed by the specification)'] : badges('O-11', meanings)
  return [link, ` ${known.title}. `, el('span', { class: 'quiet' }, `${known.advice}${repeat} `), ...basis]
}
