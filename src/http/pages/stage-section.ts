import { html } from 'hono/html'

import type { StageBounds, StageCounts } from '../../distribution/judge-stage.js'
import type { Html, PageContent, Viewer } from './layout.js'
import { tokenField } from './layout.js'
import { facts, moment } from './parts.js'

const SECTION = '/ui/policies'
/** The path of the form that ends a stage. Paths of the section are those of packages. */
export const STAGE_PATH = '/ui/operations/stage'

/** How a person ends a stage. */
export type StageAction = 'promote' | 'abandon'

const EFFECTS = {
  promote: { title: 'Promote', effect: 'It then answers all requests.', button: '' },
  abandon: { title: 'Abandon', effect: 'The serving revision then answers all requests.', button: 'bad' },
} as const

/** A revision that answers a share of requests. */
export interface ShownStage {
  readonly revision: string
  readonly sinceMs: number
  readonly sharePercent: number
  /** Undefined before the first comparison. */
  readonly counts: StageCounts | undefined
  readonly bounds: StageBounds
  /** Why the decisions are not compared. */
  readonly problem: string | undefined
}

const MS_PER_MINUTE = 60_000

/** Renders the running stage with its counts and bounds, and for admins its end. */
export function stageSection(stage: ShownStage | undefined, viewer: Viewer): Html | '' {
  if (stage === undefined) return ''
  const { revision, sinceMs, sharePercent, counts, bounds, problem } = stage
  const { compared, errors, flips } = counts ?? { compared: 0, errors: 0, flips: 0 }
  const { minutes, decisions, maxErrors, maxFlips } = bounds
  return html`<h2>Staged revision</h2>
    ${facts([
      ['revision', html`<code>${revision}</code>`],
      ['share', `${sharePercent} % of requests, by application`],
      ['since', moment(sinceMs)],
      ['new errors', `${errors}, taken back above ${maxErrors}`],
      [
        'other answers',
        maxFlips === undefined ? `${flips}, reported only` : `${flips}, taken back above ${maxFlips}`,
      ],
      ['compared', decisions === 0 ? `${compared} decisions` : `${compared} of ${decisions} decisions`],
      ['promoted by itself', html`not before ${moment(sinceMs + minutes * MS_PER_MINUTE)}`],
      ['problem', problem],
    ])}
    ${viewer.roles.includes('admin') ? endForm(revision, viewer) : ''}`
}

function endForm(revision: string, viewer: Viewer): Html {
  return html`<form method="post" action="${viewer.prefix}${STAGE_PATH}">
    ${tokenField(viewer)}
    <input type="hidden" name="revision" value="${revision}" />
    <button name="action" value="promote">Promote</button>
    <button class="bad" name="action" value="abandon">Abandon</button>
  </form>`
}

/** Renders the confirmation of the end of a stage. */
export function endStagePage(stage: ShownStage, action: StageAction, viewer: Viewer): PageContent {
  const { revision, counts } = stage
  const { title, effect, button } = EFFECTS[action]
  const found =
    counts === undefined
      ? 'No decision has been compared yet.'
      : `${counts.errors} new errors and ${counts.flips} other answers in ${counts.compared} compared decisions.`
  const body = html`<section class="narrow">
    <h1>${title} the staged revision?</h1>
    <p><code>${revision}</code></p>
    <p>${found} ${effect}</p>
    <form method="post" action="${viewer.prefix}${STAGE_PATH}">
      ${tokenField(viewer)}
      <input type="hidden" name="revision" value="${revision}" />
      <input type="hidden" name="confirm" value="yes" />
      <button class="${button}" name="action" value="${action}">${title}</button>
      <button class="plain" name="action" value="keep">Continue the stage</button>
    </form>
  </section>`
  return { title: `${title} the staged revision`, body, section: SECTION }
}
