import { html } from 'hono/html'

import { changedFacts } from '../../events/execution-facts.js'
import type { ExecutionFacts } from '../../events/execution-facts.js'
import { shownTrigger } from '../../gates/instances/instance-view.js'
import type { WholeInstance } from '../../gates/instances/instance-view.js'
import { approvalsNeeded } from '../../gates/instances/transition.js'
import { isOpen } from '../../store/ports/gate-instance.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import type { StoredRun } from '../../store/ports/analysis-store.js'
import type { Gate } from '../../store/ports/gate.js'
import { badge } from '../analysis-report/tone.js'
import { callbackSection, evidenceSection, reviewSection } from './approval-sections.js'
import { decisionTable } from './decision-table.js'
import type { ListedDecisions } from './decision-table.js'
import { timelineTable } from './execution-page.js'
import type { ShownTimeline } from './execution-page.js'
import { tokenField } from './layout.js'
import type { Html, PageContent, Viewer } from './layout.js'
import {
  clock,
  executionLink,
  facts,
  jsonBlock,
  link,
  moment,
  personText,
  timeLeft,
  toneOfState,
  unsentTexts,
  wordOfState,
} from './parts.js'
import { runLine } from './run-table.js'
import { notice } from './sign-in-page.js'

/** A gate instance with its related data. */
export interface ShownApproval extends WholeInstance {
  readonly nowMs: number
  /** What the execution is about; undefined without an event of it. */
  readonly subject: ExecutionFacts | undefined
  readonly lastApproved: LastApproved | undefined
  /** Analyses of the execution, newest first. */
  readonly runs: readonly StoredRun[]
  /** Undefined if decisions are not stored. */
  readonly decisions: ListedDecisions | undefined
  readonly timeline: ShownTimeline
  /** A refused review by the viewer. */
  readonly attempt?: RefusedAttempt | undefined
  /** Text of the comment field before the viewer types. */
  readonly comment?: string | undefined
}

/** The latest approved instance of the same gate. */
export interface LastApproved {
  readonly instance: GateInstance
  readonly subject: ExecutionFacts | undefined
}

/** A refused review: its input and the reason. */
export interface RefusedAttempt {
  readonly problem: string
  /** True if the instance changed after the viewer loaded the page. */
  readonly isConflict: boolean
  readonly comment: string
  readonly person: string
}

/** Permissions of the viewer. */
export interface ApprovalViewer extends Viewer {
  readonly mayDecide: boolean
  /** True if the service requires no credentials, so the viewer enters a name. */
  readonly entersName: boolean
}

const MAX_COMMENT = 4000

/** Renders a gate instance with its evidence and the review form. */
export function approvalPage(shown: ShownApproval, viewer: ApprovalViewer): PageContent {
  const { instance, evidence, decisions, timeline, callbacks, attempt, runs } = shown
  const { id, gateName, state, executionId } = instance
  const body = html`<h1>${gateName}</h1>
    ${attempt === undefined ? '' : notice(problemOf(attempt, shown))} ${subjectSection(shown, viewer)}
    ${evidenceSection(evidence, instance.work !== undefined)}
    <h2>Policy answers</h2>
    ${
      decisions === undefined
        ? html`<p class="none">The decision log is disabled.</p>`
        : decisionTable(decisions, viewer, { executionId })
    }
    <h2>Canary verdict</h2>
    ${
      runs.length === 0
        ? html`<p class="none">No analysis belongs to this execution.</p>`
        : html`<ul class="plain-list">
            ${runs.map((run) => html`<li>${runLine(run, viewer)}</li>`)}
          </ul>`
    }
    ${
      isOpen(state)
        ? decisionForm(shown, viewer)
        : unsentTexts({
            page: `${viewer.prefix}/ui/approvals/${instance.id}`,
            fields: attempt?.comment ? [['comment', attempt.comment]] : [],
          })
    }
    ${reviewSection(shown)}
    <h2>Timeline</h2>
    ${timelineTable(timeline, viewer)} ${callbackSection(callbacks)}
    <h2>Trigger</h2>
    <details>
      <summary>request without secrets</summary>
      ${jsonBlock(shown.request ?? null)}
    </details>`
  return { title: `${gateName}, approval ${id}`, body, section: '/ui/approvals' }
}

/** Says who decided in the meantime, if the review came too late. */
function problemOf({ problem, isConflict }: RefusedAttempt, { instance }: ShownApproval): string {
  const { state, decidedBy, decidedMs } = instance
  if (!isConflict || isOpen(state)) return problem
  if (state === 'expired' || decidedBy === undefined) return `Already closed: ${wordOfState(state)}.`
  return `Already decided: ${decidedBy} ${state} this at ${clock(decidedMs)}.`
}

/** Renders what is approved: the pipeline, its artifacts, and what changed. */
function subjectSection(shown: ShownApproval, viewer: Viewer): Html {
  const { instance, gate, counted, subject, nowMs } = shown
  const { state, comment, executionId } = instance
  const pipeline = subject?.pipeline ?? gate?.pipeline
  return html`<section class="verdict ${toneOfState(state)}">
    <div>
      ${badge(wordOfState(state), toneOfState(state))}
      ${isOpen(state) ? html`<span class="soft">expires ${timeLeft(instance.expiresMs - nowMs)}</span>` : ''}
      ${comment === '' ? '' : html`<p class="quote">${comment}</p>`}
      ${facts([
        ['application', instance.application],
        ['pipeline', pipeline],
        ['stage', gate?.stage ?? instance.gateName],
        ['artifacts', artifactText(subject)],
        ['change', changeText(shown, viewer)],
        ['execution', executionLink(viewer.prefix, executionId)],
        ['triggered by', personText(shownTrigger(instance))],
        ['triggered', moment(instance.activatedMs)],
        ['expires', isOpen(state) ? moment(instance.expiresMs) : undefined],
        ['decided by', instance.decidedBy],
        ['decided', moment(instance.decidedMs)],
        ['approvals', gate === undefined ? undefined : `${counted.length} of ${approvalsNeeded(gate)}`],
        ['approvers', gate && whoMayApprove(gate)],
        ['rules', gate && rulesText(gate, shown)],
        ['deciding policy', gate?.policy && link(viewer.prefix, `/ui/policies/${gate.policy}`, gate.policy)],
        ['needs a person', instance.policyProblem],
      ])}
      ${isOpen(state) ? html`<p><a href="#decide">Go to the decision</a></p>` : ''}
    </div>
  </section>`
}

function artifactText(subject: ExecutionFacts | undefined): Html | string {
  if (subject === undefined) return 'unknown: no event of this execution was received'
  const { artifacts } = subject
  if (artifacts.length === 0) return 'the trigger names none'
  return html`${artifacts.map(
    ({ name, version, type }) =>
      html`<div>
        <code>${name}</code> ${version === undefined ? '' : html`<strong>${version}</strong>`}
        <span class="soft">${type ?? ''}</span>
      </div>`,
  )}`
}

/** Compares with the latest approved execution of the gate. */
function changeText({ subject, lastApproved }: ShownApproval, { prefix }: Viewer): Html | string {
  if (lastApproved === undefined) return 'this gate has not approved another execution yet'
  const { instance } = lastApproved
  const since = html`since <a href="${prefix}/ui/approvals/${instance.id}">approval ${instance.id}</a>,
    ${moment(instance.decidedMs)}`
  if (subject === undefined || lastApproved.subject === undefined)
    return html`unknown ${since}: an event is missing`
  const changed = changedFacts(lastApproved.subject, subject)
  if (changed.length === 0) return html`none ${since}`
  return html`${since}
  ${changed.map(
    ({ name, before = 'nothing', after = 'nothing' }) =>
      html`<div>
        <code>${name}</code> <span class="removed">${before}</span> to <strong class="added">${after}</strong>
      </div>`,
  )}`
}

function whoMayApprove({ approvers: { users, groups } }: Gate): string {
  if (users.length + groups.length === 0) return 'anyone with the role approver'
  return [...users, ...groups.map((group) => `group ${group}`)].join(', ')
}

/** The gate's rules about who may approve, and what they still need. */
function rulesText(gate: Gate, { missingGroups, committers, instance }: ShownApproval): Html | undefined {
  const rules = [
    ...(gate.eachGroup === true ? ['one approval from each group'] : []),
    ...(missingGroups.length > 0 && isOpen(instance.state)
      ? [`still needed: ${missingGroups.map((group) => `group ${group}`).join(', ')}`]
      : []),
    ...(gate.triggererMayApprove ? [] : ['not who triggered it']),
    ...(gate.committersMayApprove === false ? [committersText(committers)] : []),
    ...(gate.commentRequired === true ? ['a comment is required'] : []),
  ]
  return rules.length === 0 ? undefined : html`${rules.map((rule) => html`<div>${rule}</div>`)}`
}

function committersText(committers: readonly string[] | undefined): string {
  return committers === undefined
    ? 'not who committed: unknown here, so nobody can approve'
    : `not who committed: ${committers.join(', ')}`
}

/** Renders the review form. Only submitting it decides anything. */
function decisionForm(
  { instance: { id }, gate, attempt, comment }: ShownApproval,
  viewer: ApprovalViewer,
): Html {
  const heading = html`<h2 id="decide">Your decision</h2>`
  if (!viewer.mayDecide) {
    return html`${heading}
      <p class="soft">You can view this, but only approvers can decide.</p>`
  }
  const isRequired = gate?.commentRequired === true
  const typed = attempt?.comment ?? comment ?? ''
  return html`${heading}
    <form method="post" action="${viewer.prefix}/ui/approvals/${id}">
      ${tokenField(viewer)} ${viewer.entersName ? nameField(gate, attempt?.person ?? '') : ''}
      <label for="comment">Comment${isRequired ? ' (required by this gate)' : ''}</label>
      <textarea id="comment" name="comment" maxlength="${MAX_COMMENT}">${typed}</textarea>
      <button class="good" name="action" value="approve">Approve</button>
      <button class="bad" name="action" value="reject">Reject</button>
      <button name="action" value="cancel">Withdraw …</button>
    </form>`
}

function nameField(gate: Gate | undefined, person: string): Html {
  const hint =
    gate !== undefined && gate.approvals > 1
      ? ' (required to approve: this gate counts different people)'
      : ''
  return html`<label for="person">Your name${hint}</label>
    <input id="person" name="person" maxlength="100" value="${person}" />`
}

/** Renders the confirmation of a withdrawal, which keeps what was typed. */
export function withdrawPage(
  { id, gateName }: GateInstance,
  { comment, person }: { readonly comment: string; readonly person: string },
  viewer: Viewer,
): PageContent {
  const path = `${viewer.prefix}/ui/approvals/${id}`
  const body = html`<section class="narrow">
    <h1>Withdraw this approval?</h1>
    <p>
      ${gateName}, approval ${id}. The pipeline's stage ends as canceled, and nobody can approve it any more.
    </p>
    <form method="post" action="${path}">
      ${tokenField(viewer)}
      <input type="hidden" name="confirm" value="yes" />
      <input type="hidden" name="person" value="${person}" />
      <label for="comment">Comment</label>
      <textarea id="comment" name="comment" maxlength="${MAX_COMMENT}">${comment}</textarea>
      <button class="bad" name="action" value="cancel">Withdraw</button>
      <button name="action" value="keep">Keep it</button>
    </form>
  </section>`
  return { title: 'Withdraw an approval', body, section: '/ui/approvals' }
}
