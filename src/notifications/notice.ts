import type { NOTIFIED_EVENTS } from '../config/sections/notifications.js'
import { cutText, printable } from '../lib/text/shown-text.js'

/** Events that people can be notified about. */
export type NotifiedEvent = (typeof NOTIFIED_EVENTS)[number] | 'test'

/** An event as people are notified about it. Texts come from other people, as they wrote them. */
export interface Notice {
  readonly event: NotifiedEvent
  /** Epoch milliseconds. */
  readonly timeMs: number
  /** Subject of the message in the outbox. */
  readonly subject: string
  /** Path of the page, such as `/ui/approvals/17`. */
  readonly path: string
  readonly gate?: string | undefined
  /** Approver groups of the gate. */
  readonly groups?: readonly string[] | undefined
  readonly application?: string | undefined
  readonly pipeline?: string | undefined
  readonly execution?: string | undefined
  readonly policy?: string | undefined
  readonly user?: string | undefined
  readonly state?: string | undefined
  /** Comment of a decision, reason of a denial or of an exception. */
  readonly comment?: string | undefined
  /** Epoch milliseconds. */
  readonly expiresMs?: number | undefined
  /** Number of denials. */
  readonly count?: number | undefined
}

/** Which notices go to a channel. */
export interface NotificationRule {
  readonly channel: string
  readonly events: readonly NotifiedEvent[]
  readonly gates?: readonly string[] | undefined
  readonly groups?: readonly string[] | undefined
  readonly applications?: readonly string[] | undefined
  readonly template?: string | undefined
}

/** Returns the first matching rule of each channel. */
export function rulesFor(rules: readonly NotificationRule[], notice: Notice): readonly NotificationRule[] {
  const byChannel = new Map<string, NotificationRule>()
  for (const rule of rules) {
    if (!byChannel.has(rule.channel) && isMatch(rule, notice)) byChannel.set(rule.channel, rule)
  }
  return [...byChannel.values()]
}

function isMatch({ events, gates, groups, applications }: NotificationRule, notice: Notice): boolean {
  const { gate, application, groups: approvers = [] } = notice
  return (
    events.includes(notice.event) &&
    (gates === undefined || (gate !== undefined && gates.includes(gate))) &&
    (groups === undefined || approvers.some((group) => groups.includes(group))) &&
    (applications === undefined || (application !== undefined && applications.includes(application)))
  )
}

/** A notice as every channel shows it. Its texts are single lines without control characters. */
export interface ShownNotice {
  readonly title: string
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly link: string | undefined
}

const MAX_NAME = 200
const MAX_COMMENT = 1000
const MAX_TITLE = 1500

/**
 * Prepares a notice for people. `publicUrl` is the service's address for links; `template` replaces
 * the title.
 */
export function showNotice(
  notice: Notice,
  publicUrl: string | undefined,
  template: string | undefined,
): ShownNotice {
  const { application, pipeline, execution, policy, user, state, comment, count } = notice
  const link = publicUrl && `${publicUrl.replace(/\/+$/, '')}${notice.path}`
  const expires = notice.expiresMs === undefined ? undefined : new Date(notice.expiresMs).toISOString()
  const name = (value: string | undefined): string => oneLine(value ?? '', MAX_NAME)
  const gate = name(notice.gate)
  const shown = {
    gate,
    application: name(application),
    pipeline: name(pipeline),
    execution: name(execution),
    policy: name(policy),
    user: name(user),
    state: name(state),
    comment: oneLine(comment ?? '', MAX_COMMENT),
    expires: expires ?? '',
    count: count === undefined ? '' : String(count),
  }
  const title = titleOf(notice.event, shown)
  const facts = Object.entries(FACTS).map(
    ([key, label]) => [label, shown[key as keyof typeof FACTS]] as const,
  )
  const values: Readonly<Record<string, string>> = { ...shown, title, event: notice.event, link: link ?? '' }
  const filled = template?.replaceAll(/\{(?<key>\w+)\}/g, (_, key: string) => values[key] ?? '')
  return {
    title: oneLine(filled ?? title, MAX_TITLE),
    facts: facts.filter(([, value]) => value !== ''),
    link,
  }
}

const FACTS = {
  application: 'application',
  pipeline: 'pipeline',
  execution: 'execution',
  policy: 'policy',
  user: 'by',
  comment: 'reason',
  expires: 'ends',
} as const

type ShownValues = Readonly<
  Record<'gate' | 'application' | 'pipeline' | 'policy' | 'state' | 'count', string>
>

function titleOf(
  event: NotifiedEvent,
  { gate, application, pipeline, policy, state, count }: ShownValues,
): string {
  const of = application === '' ? '' : ` of ${application}`
  switch (event) {
    case 'gate.activated':
      return `${gate}${of} waits for approval`
    case 'gate.reminded':
      return `Reminder: ${gate}${of} still waits for approval`
    case 'gate.expiring':
      return `${gate}${of} expires soon without a decision`
    case 'gate.decided':
      return `${gate}${of} was ${state}`
    case 'policy.denied': {
      const where = [application, pipeline].filter((part) => part !== '').join(' / ')
      return `${count} ${count === '1' ? 'denial' : 'denials'} in ${where === '' ? 'further pipelines' : where}`
    }
    case 'exception.expiring':
      return `An exception from ${policy} ends soon`
    case 'test':
      return 'Test message of Tidegate'
  }
}

/**
 * Makes one line of a foreign text: line breaks and tabs become spaces, other control and
 * bidirectional characters become U+FFFD, and the rest after `length` is cut.
 */
export function oneLine(text: string, length: number): string {
  const start = text.slice(0, length + 1)
  const line = printable(start.replaceAll(/[\r\n\t\u0085]+/g, ' '))
  // A cut can divide a character, which JSON must not contain.
  return cutText(line, length).toWellFormed()
}
