import { ExchangeError } from '@agent-exchange/sdk'
import { buttonLink, html, identifier, notice } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { packageArticle, shownPackage } from './package-article.ts'
import { packagesOf } from './threads.ts'

/** A thread as a conversation, oldest package first. */
export async function threadPage(call: DeskCall): Promise<DeskAnswer> {
  const found = await packagesOf(call.agent, call.id).catch((error: unknown) => {
    if (error instanceof ExchangeError && error.problem?.code === 'resource_not_found') return undefined
    throw error
  })
  if (!found) return unknownThread(call)
  const { packages, older } = found
  const shown = await Promise.all(packages.map((resource) => shownPackage(call, resource)))
  return {
    kind: 'page',
    title: 'Conversation',
    section: 'overview',
    main: html`<p>${identifier(call.id)}</p>
      <p>${buttonLink(pathTo('evidence', call.id), 'Evidence of the thread')}</p>
      ${older > 0 && notice({ tone: 'info', title: `${older} older packages are not shown.` })}
      ${shown.map((each) => packageArticle(call, each))}`,
  }
}

function unknownThread({ id }: DeskCall): DeskAnswer {
  return {
    kind: 'page',
    status: 404,
    title: 'Conversation',
    section: 'overview',
    main: html`<p>${identifier(id)}</p>
      ${notice({
        tone: 'info',
        title: 'The exchange has no package of this thread.',
        text: 'A thread begins when the exchange accepts its first package.',
      })}`,
  }
}
