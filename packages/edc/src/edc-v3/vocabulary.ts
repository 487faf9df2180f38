/**
 * The names of the management API. Contexts are given inline in every request and nothing is ever fetched: a name
 * means the same whether or not its publisher's server is up.
 */
export const EDC = 'https://w3id.org/edc/v0.0.1/ns/'
export const ODRL = 'http://www.w3.org/ns/odrl/2/'
export const DCAT = 'http://www.w3.org/ns/dcat#'
export const DCT = 'http://purl.org/dc/terms/'
export const DSPACE = 'https://w3id.org/dspace/v0.8/'

export const REQUEST_CONTEXT = { '@vocab': EDC, edc: EDC, odrl: ODRL } as const

/** The dataspace protocol as EDC names its dispatcher; `…:2024/1` and `…:2025-1` are its later versions. */
export const DEFAULT_PROTOCOL = 'dataspace-protocol-http'

export const PULL = 'HttpData-PULL'

/** Which vocabularies a name may come from; publishers of one name disagree about the prefix. */
const NAMESPACES: readonly (readonly [prefix: string, iri: string])[] = [
  ['edc', EDC],
  ['odrl', ODRL],
  ['dcat', DCAT],
  ['dct', DCT],
  ['dcterms', DCT],
  ['dspace', DSPACE],
  ['dspace', 'https://w3id.org/dspace/2024/1/'],
  ['dspace', 'https://w3id.org/dspace/2025/1/'],
  ['tx', 'https://w3id.org/tractusx/v0.0.1/ns/'],
]

/** The last part of a name: `odrl:use`, `http://www.w3.org/ns/odrl/2/use` and `use` are one. */
export function localName(name: string): string {
  for (const [prefix, iri] of NAMESPACES) {
    if (name.startsWith(iri)) return name.slice(iri.length)
    if (name.startsWith(`${prefix}:`)) return name.slice(prefix.length + 1)
  }
  return name
}

/** A name in full; one without a prefix belongs to `vocabulary`. */
export function fullName(name: string, vocabulary: string): string {
  const [, prefix, rest] = /^(\w+):(?!\/\/)(.*)$/u.exec(name) ?? []
  const iri = NAMESPACES.find(([known]) => known === prefix)?.[1]
  if (iri !== undefined) return `${iri}${rest}`
  return name.includes(':') ? name : `${vocabulary}${name}`
}
