import { html } from 'hono/html'

import type { ImpactRunView } from '../../impact/impact-runs.js'
import { countChanges } from '../../impact/impact-result.js'
import type { ChangeCounts, Flip, ImpactResult } from '../../impact/impact-result.js'
import { badge } from '../analysis-report/tone.js'
import type { Tone } from '../analysis-report/tone.js'
import type { Html, Viewer } from './layout.js'
import { decisionPath, duration, link, moment, problemList, shownValue } from './parts.js'

const WORDS: Readonly<Record<Flip['change'], string>> = {
  allow_to_deny: 'allowed, now denied',
  deny_to_allow: 'denied, now allowed',
  new_error: 'fails now',
  error_gone: 'no longer fails',
  reasons: 'denied for other reasons',
  value: 'another value',
  warnings: 'other warnings',
}
const TONES: Readonly<Record<Flip['change'], Tone>> = {
  ...{ allow_to_deny: 'bad', deny_to_allow: 'doubt', new_error: 'bad', error_gone: 'good' },
  ...{ reasons: 'soft', value: 'soft', warnings: 'soft' },
}
const MAX_FLIPS = 100
const MAX_REASONS = 20

/** Renders a comparison. While it runs, the script of pages keeps it up to date. */
export function impactSection(run: ImpactRunView, viewer: Viewer): Html {
  const own = `/ui/impact/${encodeURIComponent(run.impactId)}`
  const { state, progress, error, result } = run
  if (state === 'failed')
    return html`<section id="impact" class="verdict bad" role="alert">
      <div>
        <h2>Impact</h2>
        <p>${error?.message}</p>
        ${problemList(error?.errors ?? [])}
      </div>
    </section>`
  if (result === undefined)
    return html`<section id="impact" class="verdict" role="status" data-refresh="${viewer.prefix}${own}">
      <div>
        <h2>Impact</h2>
        <p>
          ${
            progress.phase === 'compiling'
              ? 'Compiling the changed policies.'
              : `${progress.seen} stored inputs compared, ${progress.flips} answered differently.`
          }
        </p>
        ${link(viewer.prefix, own, 'Open the comparison')}
      </div>
    </section>`
  return resultSection(result, viewer)
}

function resultSection(result: ImpactResult, viewer: Viewer): Html {
  const { compared, flips, flipsLeftOut, byPackage, notReplayable, notes, bothFail, cost } = result
  const { errors, flips: changes } = countChanges(result)
  const tone = errors > 0 ? 'bad' : changes > 0 ? 'doubt' : 'good'
  const left = flipsLeftOut + Math.max(0, flips.length - MAX_FLIPS)
  return html`<section id="impact" role="status">
    <div class="verdict ${tone}">
      <div>
        <h2>Impact</h2>
        <p><strong>${sentence(result)}</strong></p>
        <p class="soft">
          Compared: ${compared.decisions} stored decisions and ${compared.pipelines} pipelines.
          ${notReplayable.total > 0 ? `${notReplayable.total} more cannot be evaluated again.` : ''}
          ${bothFail > 0 ? `${bothFail} fail with both.` : ''} ${notes.join(' ')} An evaluation takes
          ${duration(cost.after.meanMs)} on average, before ${duration(cost.before.meanMs)}.
        </p>
        ${Object.keys(result.changes).length === 0 ? '' : html`<p>${countsOf(result.changes)}</p>`}
        ${
          byPackage.length === 0
            ? ''
            : html`<ul>
                ${byPackage.map(({ package: name, changes: of }) => html`<li><code>${name}</code>: ${countsOf(of)}</li>`)}
              </ul>`
        }
      </div>
    </div>
    ${flips.length === 0 ? '' : flipList(flips.slice(0, MAX_FLIPS), viewer)}
    ${left === 0 ? '' : html`<p class="soft">${left} more are not listed.</p>`}
  </section>`
}

function sentence({ compared: { total }, changes, isPartial }: ImpactResult): string {
  const changed = Object.values(changes).reduce((sum, count) => sum + count, 0)
  if (total === 0) return 'There is no stored input to compare.'
  const part = isPartial ? ' so far' : ''
  if (changed === 0) return `No answer changes: ${total} of ${total} are the same${part}.`
  return `${changed} of ${total} answers change${part}.`
}

function countsOf(changes: ChangeCounts): string {
  return Object.entries(changes)
    .map(([change, count]) => `${count} ${WORDS[change as Flip['change']]}`)
    .join(', ')
}

function flipList(flips: readonly Flip[], { prefix, roles }: Viewer): Html {
  const named = ({ origin, id, name }: Flip): Html =>
    origin === 'decision' && roles.includes('auditor')
      ? link(prefix, decisionPath(id), 'Decision')
      : html`${origin} ${name ?? ''}`
  return html`<ul class="plain-list">
    ${flips.map(
      (flip) =>
        html`<li>
          <p>
            ${named(flip)} ${moment(flip.time)} ${flip.application ?? ''}
            ${badge(WORDS[flip.change], TONES[flip.change])}
          </p>
          <dl>
            <dt>before</dt>
            <dd>${answer(flip.before)}</dd>
            <dt>after</dt>
            <dd>${answer(flip.after)}</dd>
          </dl>
        </li>`,
    )}
  </ul>`
}

function answer({ outcome, reasons = [], warnings = [], value, error }: Flip['before']): string {
  const texts = [...reasons, ...warnings].flatMap(({ deny }) => deny)
  if (error !== undefined) return `error: ${shownValue(error)}`
  if (texts.length > 0) return texts.slice(0, MAX_REASONS).map(shownValue).join('\n')
  return value === undefined ? outcome : shownValue(value)
}
