import { html } from 'hono/html'

import type { WholeInstance } from '../../gates/instances/instance-view.js'
import type { Evidence } from '../../gates/connectors/tool/connectors.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import type { StoredMessage } from '../../store/ports/outbox-store.js'
import { badge } from '../analysis-report/tone.js'
import type { Html } from './layout.js'
import { table } from './lists.js'
import { facts, moment, toneOfState, wordOfState } from './parts.js'

const MAX_ITEMS = 100

/** Renders the evidence of an instance. */
export function evidenceSection(evidence: readonly Evidence[], isPending: boolean): Html {
  const none = isPending ? 'Evidence is being fetched. Reload the page.' : 'No evidence was requested.'
  return html`<h2>Evidence</h2>
    ${evidence.length === 0 ? html`<p class="none">${none}</p>` : evidence.map(evidenceCard)}`
}

function evidenceCard({ connectorType, account, state, fetchedAt, output, error }: Evidence): Html {
  const more = output.length - MAX_ITEMS
  return html`<section class="card">
    <header>
      <h3>${connectorType}</h3>
      ${badge(wordOfState(state), toneOfState(state))}
      <span class="soft"
        >${account === null ? 'no account configured' : `by ${account}`}, ${moment(fetchedAt)}</span
      >
    </header>
    ${error === undefined ? '' : html`<p>${error}</p>`}
    ${output.slice(0, MAX_ITEMS).map((item) => facts(Object.entries(item)))}
    ${more > 0 ? html`<p class="soft">${more} more</p>` : ''}
  </section>`
}

/** Renders the reviews of an instance. */
export function reviewSection({ reviews, counted }: Pick<WholeInstance, 'reviews' | 'counted'>): Html {
  if (reviews.length === 0) return html``
  return html`<h2>Reviews</h2>
    ${table(reviews, [
      { head: 'when', cell: ({ timeMs }) => moment(timeMs) },
      {
        head: 'who',
        cell: ({ person, onBehalfOf }) => (onBehalfOf === undefined ? person : `${person} for ${onBehalfOf}`),
      },
      {
        head: 'what',
        cell: (review) =>
          html`${badge(wordOfState(review.action), toneOfState(review.action))}
          ${review.action === 'approve' && !counted.includes(review) ? 'no longer counted' : ''}`,
      },
      { head: 'comment', cell: ({ comment }) => comment, isQuote: true },
    ])}`
}

/** Renders the callbacks of an instance. */
export function callbackSection(callbacks: readonly StoredMessage[]): Html {
  if (callbacks.length === 0) return html``
  return html`<h2>Callbacks</h2>
    ${callbacks.map(({ url, state, attempts, lastError }) =>
      facts([
        ['to', shownUrl(url)],
        ['state', wordOfState(state)],
        ['attempts', attempts],
        ['last error', lastError],
      ]),
    )}`
}
