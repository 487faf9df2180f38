import { badges, disclosure, el } from './elements.js'
import { resolve, nameOf } from './schema-facts.js'
import { schemaView } from './schema-view.js'
import { tryForm } from './try-form.js'

/** Everything about one operation, made when it is opened. */
export function operationView(context, entry) {
  const { method, path, operation } = entry
  const head = [
    el('span', { class: `method ${method.toLowerCase()}` }, method),
    ' ',
    el('code', { class: 'path' }, path),
    ' ',
    el('span', { class: 'what' }, operation.summary),
  ]
  return disclosure(head, () => inside(context, entry), { class: 'operation', id: operation.operationId })
}

function inside(context, entry) {
  const { operation } = entry
  const body = operation.requestBody?.content['application/json'].schema
  return [
    el('p', { class: 'quiet' }, 'Operation ', el('code', {}, operation.operationId)),
    el('h3', {}, 'Parameters'),
    parametersView(context, entry.parameters),
    ...(body ? [el('h3', {}, 'Request body'), namedSchema(context, body)] : []),
    el('h3', {}, 'Answers'),
    ...Object.entries(operation.responses).map(([status, response]) =>
      responseView(context, status, response),
    ),
    el('h3', {}, 'Try it'),
    tryForm(context, entry),
  ]
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
        ...badges(parameter.schema['x-open-point'], context.meanings),
      ),
    ),
  )
  const head = ['Name', 'In', '', 'Meaning'].map((text) => el('th', {}, text))
  return el('table', {}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows))
}

function namedSchema(context, schema) {
  const resolved = resolve(context.description, schema)
  const head = [
    el('code', {}, nameOf(schema) ?? 'body'),
    ' ',
    ...badges(resolved['x-open-point'], context.meanings),
  ]
  return disclosure(head, () => [schemaView(context, schema)], { open: true })
}

function responseView(context, status, response) {
  const problem = response.content['application/problem+json']
  const head = [el('strong', { class: problem ? 'bad' : 'good' }, status), ' ']
  if (!problem) {
    const { schema } = response.content['application/json']
    const own = badges(resolve(context.description, schema)['x-open-point'], context.meanings)
    return disclosure([...head, el('code', {}, nameOf(schema) ?? ''), ' ', ...own], () => [
      schemaView(context, schema),
    ])
  }
  const codes = problem.schema.properties.code.enum
  const note = badges(response['x-open-point'], context.meanings)
  return disclosure([...head, codes.join(', '), ' ', ...note], () => [
    el('ul', {}, ...codes.map((code) => el('li', {}, ...problemView(context, code)))),
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
