import { html } from 'hono/html'

import { tokenField } from './layout.js'
import type { PageContent, Viewer } from './layout.js'
import type { ListedSession } from '../../store/ports/browser-sessions.js'
import type { Html } from './layout.js'
import { table } from './lists.js'
import { empty, facts, moment } from './parts.js'
import { notice } from './sign-in-page.js'
import type { Delegation } from '../../store/ports/gate-instance.js'

const WHAT: Readonly<Record<string, string>> = {
  approver: 'decides approvals',
  auditor: 'reads decisions, the trail and the state of the service',
  author: 'tries policies and compares them with those in service',
  orchestrator: 'requests decisions and triggers gates',
  instance: 'reports its status and downloads bundles',
  admin: 'may do everything',
}

export interface ShownAccount {
  readonly groups: readonly string[]
  /** Sessions of the viewer; of everybody for an admin. */
  readonly sessions: readonly (ListedSession & { readonly id: string; readonly isCurrent: boolean })[]
  /** Undefined for viewers who may not read delegations. */
  readonly delegations: ShownDelegations | undefined
  readonly refused: RefusedDelegation | undefined
  readonly nowMs: number
}

export interface ShownDelegations {
  readonly mayGive: boolean
  readonly maxDays: number
  readonly listed: readonly (Delegation & { readonly mayRevoke: boolean })[]
}

/** A delegation that was not given: what was typed, and why. */
export interface RefusedDelegation {
  readonly to: string
  readonly until: string
  readonly reason: string
  readonly problem: string
}

/** Renders who is signed in, with which roles and groups. */
export function accountPage(
  { groups, sessions, delegations, refused, nowMs }: ShownAccount,
  viewer: Viewer & { readonly isAnonymous: boolean },
): PageContent {
  const { name, roles, prefix, isAnonymous } = viewer
  const body = html`<h1>Account</h1>
    ${
      isAnonymous
        ? html`<p>
            This service requires no sign-in: everyone who reaches it may do everything. Configure
            <code>auth.tokens</code> to change that.
          </p>`
        : facts([
            ['name', name],
            [
              'roles',
              (roles.includes('admin') ? (['admin'] as const) : roles)
                .map((role) => `${role}: ${WHAT[role] ?? ''}`)
                .join('\n'),
            ],
            ['groups', groups.length === 0 ? 'none' : groups.join(', ')],
          ])
    }
    ${delegations === undefined ? '' : delegationSection(delegations, refused, nowMs, viewer)}
    ${
      isAnonymous
        ? ''
        : html`<h2>Sessions</h2>
            ${sessionTable(sessions, nowMs, viewer)}
            <p class="soft">A session ends after two hours without a request, and after twelve hours.</p>
            <form method="post" action="${prefix}/ui/sign-out">
              ${tokenField(viewer)}
              <button>Sign out</button>
            </form>`
    }`
  return { title: 'Account', body, section: '/ui/account' }
}

function delegationSection(
  { mayGive, maxDays, listed }: ShownDelegations,
  refused: RefusedDelegation | undefined,
  nowMs: number,
  viewer: Viewer,
): Html {
  return html`<h2 id="delegations">Delegations</h2>
    ${
      listed.length === 0
        ? empty(
            'Nobody decides for another person.',
            mayGive ? 'Give your rights below before you are away.' : '',
          )
        : delegationTable(listed, viewer)
    }
    ${mayGive ? delegationForm(refused, { nowMs, maxDays }, viewer) : ''}`
}

function delegationTable(listed: ShownDelegations['listed'], { prefix, ...viewer }: Viewer): Html {
  return table(listed, [
    { head: 'who decides', cell: ({ to }) => to },
    { head: 'for', cell: ({ from }) => from },
    { head: 'until', cell: ({ untilMs }) => moment(untilMs) },
    { head: 'reason', cell: ({ reason }) => reason, isQuote: true },
    {
      head: 'end',
      isPlain: true,
      cell: ({ id, to, mayRevoke }) =>
        mayRevoke
          ? html`<form method="post" action="${prefix}/ui/account/delegations/${id}/revoke">
              ${tokenField(viewer)}
              <button class="plain">Withdraw<span class="hidden"> the delegation to ${to}</span></button>
            </form>`
          : '',
    },
  ])
}

const MS_PER_DAY = 86_400_000

function delegationForm(
  refused: RefusedDelegation | undefined,
  { nowMs, maxDays }: { readonly nowMs: number; readonly maxDays: number },
  viewer: Viewer,
): Html {
  const { to = '', until = '', reason = '', problem } = refused ?? {}
  const dayIn = (days: number): string => new Date(nowMs + days * MS_PER_DAY).toISOString().slice(0, 10)
  return html`<h3>Let another person decide for you</h3>
    <p class="soft">
      The person needs the role approver, and may then decide what you may. Reviews name both of you.
    </p>
    ${problem === undefined ? '' : notice(problem)}
    <form method="post" action="${viewer.prefix}/ui/account/delegations">
      ${tokenField(viewer)}
      <label for="to">Who decides for you</label>
      <input id="to" name="to" required maxlength="100" value="${to}" />
      <label for="until">Until this day begins (UTC)</label>
      <input
        id="until"
        name="until"
        type="date"
        required
        min="${dayIn(1)}"
        max="${dayIn(maxDays)}"
        value="${until}"
      />
      <label for="reason">Reason</label>
      <input id="reason" name="reason" maxlength="1000" value="${reason}" />
      <button>Give my rights</button>
    </form>`
}

function sessionTable(sessions: ShownAccount['sessions'], nowMs: number, viewer: Viewer): Html {
  if (sessions.length === 0) return html`<p class="none">No browser is signed in.</p>`
  return html`${table(sessions, [
    { head: 'who', cell: ({ tokenName }) => tokenName },
    { head: 'signed in', cell: ({ ageMs }) => moment(nowMs - ageMs) },
    { head: 'last used', cell: ({ idleMs }) => moment(nowMs - idleMs) },
    {
      head: 'end',
      isPlain: true,
      cell: ({ id, isCurrent }) =>
        isCurrent
          ? 'this browser'
          : html`<form method="post" action="${viewer.prefix}/ui/account/sessions/${id}/revoke">
              ${tokenField(viewer)}<button class="plain">Revoke</button>
            </form>`,
    },
  ])}`
}
