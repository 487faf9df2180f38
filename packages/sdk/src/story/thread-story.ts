import { agreedPoints } from './agreed.ts'
import { indexAnswers } from './answers.ts'
import { handlingOf, notDisclosed } from './boundaries.ts'
import { companiesOf } from './companies.ts'
import { comparedItems } from './compared-items.ts'
import { conversationOf } from './conversation.ts'
import { decidedPoints } from './decided.ts'
import { disputedPoints } from './disputed.ts'
import { dueAnswers } from './due-answers.ts'
import { collectFacts } from './facts.ts'
import { loopStanding } from './loop-standing.ts'
import { openPoints } from './open-matters.ts'
import { proposedPoints } from './proposed.ts'
import { isCounted, isOf, readPackage, type CountedPackage } from './readable-package.ts'
import type { ThreadObjects } from './story-input.ts'
import { titleFrom } from './story-title.ts'
import type { ThreadStory } from './story-types.ts'
import { storyVersions } from './story-versions.ts'

/**
 * Tells what the packages of a thread say together: what is agreed, disputed, proposed, decided and open, who said it
 * and when. Pure: the same packages and time give the same story, in linear time. Everything rests on fields of the
 * specification; docs/story.md lists the rules. Packages that cannot be read stay in the conversation with the reason.
 *
 * @example
 * const story = threadStory({ threadId, reader: agent.identity.organizationId, packages }, new Date())
 * for (const { text, source } of story.disputed) console.log(`${text.by} disputes: ${text.text} (${source.at})`)
 */
export function threadStory(thread: ThreadObjects, now: Date): ThreadStory {
  const { reader } = thread
  const packages = thread.packages.map((record) => readPackage(record, reader))
  const counted = packages.filter(isCounted)
  const reasoning = counted.filter(isOf('reasoning_package'))
  const newestReasoning = newestOfEach(reasoning)
  const threads = newestOfEach(counted.filter(isOf('loop_thread')))
  const answers = indexAnswers(packages)
  const facts = collectFacts(counted, answers)
  const { versions, current } = storyVersions(counted)
  const due = dueAnswers(counted, answers, { reader, now })
  const title = titleFrom(reasoning[0])
  return {
    threadId: thread.threadId,
    ...(title && { title }),
    companies: companiesOf(thread, packages, counted),
    standing: loopStanding(threads, counted, answers),
    agreed: agreedPoints(answers, facts, current).toReversed(),
    disputed: disputedPoints(answers, facts).toReversed(),
    proposed: proposedPoints(answers, facts, newestReasoning).toReversed(),
    decided: decidedPoints(counted, current, { answers, facts }),
    open: openPoints({ answers, facts, current, reasoning: newestReasoning, threads, now }),
    due,
    facts: facts.all.toReversed(),
    options: comparedItems('options', answers),
    constraints: comparedItems('constraints', answers),
    confidence: newestReasoning
      .map(({ object, quote, source }) => ({
        score: object.confidence.score,
        basis: quote(object.confidence.basis),
        source,
      }))
      .toReversed(),
    notDisclosed: notDisclosed(counted),
    versions: versions.toReversed(),
    handling: handlingOf(counted).toReversed(),
    conversation: conversationOf(packages, { reader, now }),
    olderPackages: thread.olderPackages ?? 0,
    hasNewerPackages: thread.hasNewerPackages ?? false,
  }
}

/** The last package of each company, oldest first. */
function newestOfEach<Each extends CountedPackage>(packages: readonly Each[]): readonly Each[] {
  const newest = new Map(packages.map((each) => [each.source.by.organizationId, each]))
  return packages.filter((each) => newest.get(each.source.by.organizationId) === each)
}
