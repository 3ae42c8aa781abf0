import { html } from 'hono/html'

import type { StoredRun } from '../../store/ports/analysis-store.js'
import { formatNumber } from '../analysis-report/format-number.js'
import { badge, toneOf } from '../analysis-report/tone.js'
import type { Html, Viewer } from './layout.js'
import { moment } from './parts.js'

/** Renders an analysis in one line: application, verdict, score and progress. */
export function runLine(run: StoredRun, { prefix }: Viewer): Html {
  const { id, application, startedMs, intervalsDone, intervals, message, state } = run
  return html`<a href="${prefix}/ui/runs/${id}">${application}, analysis ${id}</a>
    ${runVerdict(run)}
    <p class="soft">
      ${message === '' ? '' : html`${message} · `}interval ${intervalsDone} of ${intervals} · started
      ${moment(startedMs)}${state === 'RUNNING' ? html` · next interval ${moment(run.nextIntervalMs)}` : ''}
    </p>`
}

/** Renders the verdict and the score of an analysis. */
export function runVerdict({ state, verdict, score, unscored }: StoredRun): Html {
  const word = verdict ?? state.toLowerCase()
  return html`${badge(word, toneOf(word))}
  ${unscored !== undefined ? '–' : score === undefined ? '' : formatNumber(score)}
  ${state === 'RUNNING' && verdict !== undefined ? badge('still running', 'soft') : ''}`
}
