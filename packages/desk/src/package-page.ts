import { html } from '@agent-exchange/web'
import { pathTo, type DeskAnswer, type DeskCall } from './desk-call.ts'
import { PACKAGE_TEXTS as T } from './texts/story-texts.ts'
import { packageArticle, shownPackage } from './package-article.ts'

/** One package in full, with what can be done with it. */
export async function packagePage(call: DeskCall): Promise<DeskAnswer> {
  const resource = await call.agent.package(call.id)
  return {
    kind: 'page',
    title: T.title,
    section: 'overview',
    main: html`<p><a href="${pathTo('threads', resource.thread_id)}">${T.story}</a></p>
      ${packageArticle(call, await shownPackage(call, resource))}`,
  }
}
