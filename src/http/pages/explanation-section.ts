import { html } from 'hono/html'

import type { Explanation } from '../../rego/index.js'
import { badge } from '../analysis-report/tone.js'
import type { Tone } from '../analysis-report/tone.js'
import type { Html } from './layout.js'
import { shownValue } from './parts.js'

type Rule = Explanation['packages'][number]['rules'][number]
type Values = Rule['results'][number]['values']
/** Returns the link to edit a rule. */
type LinkOfRule = (rule: Pick<Rule, 'file' | 'row'>) => Html | ''

/** Deepest level of rules that a page shows. */
const MAX_DEPTH = 8
const MAX_SAMPLES = 3

const TONES: Readonly<Record<Rule['outcome'], Tone>> = {
  fired: 'doubt',
  default: 'soft',
  not_fired: 'soft',
  not_evaluated: 'soft',
}

const WORDS: Readonly<Record<Rule['outcome'], string>> = {
  fired: 'fired',
  default: 'has its default value',
  not_fired: 'did not fire',
  not_evaluated: 'was not evaluated',
}

/** Renders the rules that fired, and why the others did not. */
export function explainedPackages(
  { packages, rulesLeftOut, isCut }: Explanation,
  linkOf: LinkOfRule = () => '',
): Html {
  return html`${packages.map(
    ({ package: name, title, description, rules }) =>
      html`<h2>${name}</h2>
        ${title === undefined ? '' : html`<p><strong>${title}</strong></p>`}
        ${description === undefined ? '' : html`<p>${description}</p>`}
        ${rules.map((rule) => html`<section class="card">${ruleBlock(rule, linkOf, 0)}</section>`)}`,
  )}
  ${rulesLeftOut === 0 ? '' : html`<p class="soft">${rulesLeftOut} more rules are not shown.</p>`}
  ${isCut ? html`<p class="soft">The evaluation had more values than are shown.</p>` : ''}`
}

function ruleBlock(shown: Rule, linkOf: LinkOfRule, depth: number): Html {
  const { rule, file, row, text, outcome, results, failed, because } = shown
  const place = html`<span class="soft">${file}:${row}</span>`
  return html`<p><code>${rule}</code> ${badge(WORDS[outcome], TONES[outcome])} ${place} ${linkOf(shown)}</p>
    <pre tabindex="0">${shownValue(text)}</pre>
    ${
      results.length === 0
        ? ''
        : html`<ul>
            ${results.map(({ value, values }) => html`<li><code>${shownValue(value)}</code> ${valueList(values)}</li>`)}
          </ul>`
    }
    ${
      failed === undefined
        ? ''
        : html`<p>The first condition that fails is in line ${failed.row}:</p>
            <pre tabindex="0">${shownValue(failed.source)}</pre>
            ${failed.samples.slice(0, MAX_SAMPLES).map(({ values }) => html`<p>${valueList(values)}</p>`)}
            ${becauseOf(failed.because, linkOf, depth)}`
    }
    ${becauseOf(because, linkOf, depth)}`
}

function becauseOf(rules: readonly Rule[], linkOf: LinkOfRule, depth: number): Html {
  if (rules.length === 0 || depth >= MAX_DEPTH) return html``
  return html`<details>
    <summary>because of ${rules.length} other ${rules.length === 1 ? 'rule' : 'rules'}</summary>
    <ul class="plain-list">
      ${rules.map((rule) => html`<li>${ruleBlock(rule, linkOf, depth + 1)}</li>`)}
    </ul>
  </details>`
}

function valueList(values: Values): Html {
  return html`${values.map(
    ({ term, values: all }) =>
      html`<span class="soft">${term} is</span>
        <code>${all.length === 0 ? 'undefined' : shownValue(all.join(', '))}</code> `,
  )}`
}
