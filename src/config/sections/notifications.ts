import { z } from 'zod'

import { key, wholeNumber, wholeNumberKey, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

/** Events that people can be notified about. */
export const NOTIFIED_EVENTS = [
  'gate.activated',
  'gate.reminded',
  'gate.expiring',
  'gate.decided',
  'policy.denied',
  'exception.expiring',
] as const

/** Placeholders of a template. */
const PLACEHOLDERS = [
  'event',
  'title',
  'gate',
  'application',
  'pipeline',
  'execution',
  'policy',
  'user',
  'state',
  'comment',
  'expires',
  'count',
  'link',
] as const

const MAX_CHANNELS = 50
const MAX_RULES = 200
const MAX_LISTED = 100
const MAX_TEMPLATE = 1000
const MAX_PORT = 65_535
const SUBMISSION_PORT = 587
const MAX_SECONDS = 3600
const MAX_MINUTES = 1440

const channelName = () => z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/)
const names = () => z.array(z.string().min(1).max(1000)).min(1).max(MAX_LISTED)
/** One address without a display name. Spaces and line breaks would add headers or recipients. */
const address = () => z.string().regex(/^[^\s@<>,;:"()[\]\\]{1,64}@[^\s@<>,;:"()[\]\\]{1,255}$/)
const addressText = 'an address such as releases@example.org'

const url = (what: string) =>
  secretKey(`URL of ${what}. It is a secret, because anyone who knows it can post to the channel.`)

const Channel = z.discriminatedUnion('type', [
  z.strictObject({ name: channelName(), type: z.literal('slack'), url: url('an incoming webhook of Slack') }),
  z.strictObject({
    name: channelName(),
    type: z.literal('teams'),
    url: url('a workflow of Microsoft Teams'),
  }),
  z.strictObject({
    name: channelName(),
    type: z.literal('webhook'),
    url: url('a receiver of signed webhooks'),
    secret: secretKey('Secret that signs its messages. By default that of callbacks.').optional(),
  }),
  z.strictObject({
    name: channelName(),
    type: z.literal('mail'),
    host: key(z.string().regex(/^[\w.:-]{1,253}$/), 'Host of the SMTP server.', 'a name or an address'),
    port: key(
      wholeNumber(1, MAX_PORT).default(SUBMISSION_PORT),
      'Port of the SMTP server.',
      wholeNumberText(1, MAX_PORT),
    ),
    encryption: key(
      z.enum(['starttls', 'tls', 'none']).default('starttls'),
      'Encryption of the connection. `starttls` sends nothing to a server without it.',
      'starttls, tls or none',
    ),
    user: key(z.string().min(1).max(1000).optional(), 'User at the SMTP server.', 'a name'),
    password: secretKey('Password at the SMTP server.').optional(),
    from: key(address(), 'Sender of the mails.', addressText),
    to: key(
      z.array(address()).min(1).max(MAX_LISTED),
      'Recipients. Each gets a mail.',
      'a list of addresses',
    ),
  }),
])

const Rule = z.strictObject({
  channel: channelName(),
  events: key(z.array(z.enum(NOTIFIED_EVENTS)).min(1), 'Events.', `a list of ${NOTIFIED_EVENTS.join(', ')}`),
  gates: key(names().optional(), 'Only these gates.', 'a list of names of gates'),
  groups: key(names().optional(), 'Only gates with one of these approver groups.', 'a list of groups'),
  applications: key(names().optional(), 'Only these applications.', 'a list of names'),
  template: key(
    z
      .string()
      .min(1)
      .max(MAX_TEMPLATE)
      .refine((text) => unknownPlaceholder(text) === undefined)
      .optional(),
    'First line of the message.',
    `a text of at most ${MAX_TEMPLATE} characters with placeholders such as {gate}: ${PLACEHOLDERS.join(', ')}`,
  ),
})

function unknownPlaceholder(template: string): string | undefined {
  const used = [...template.matchAll(/\{(?<name>[^{}]*)\}/g)].map(({ groups }) => groups?.['name'] ?? '')
  return used.find((name) => !PLACEHOLDERS.some((known) => known === name))
}

export const NotificationsSection = z.strictObject({
  channels: key(
    z.array(Channel).max(MAX_CHANNELS).default([]),
    'Channels, each with a `name` and a `type`. `slack`, `teams` and `webhook` have a `url`, which is a secret (`{env: NAME}` or `{file: PATH}`), and `webhook` has, where needed, a `secret` that signs its messages (that of callbacks). `mail` has `host`, `port` (587), `encryption` (`starttls`, `tls` or `none`; starttls), `user`, `password` (a secret), `from` and `to`.',
    'a list of {name, type, url} or {name, type: mail, host, from, to}',
  ),
  rules: key(
    z.array(Rule).max(MAX_RULES).default([]),
    `Which events go to which channel, each \`{channel, events}\` with, where needed, \`gates\`, \`groups\` (approver groups of the gate), \`applications\` and \`template\`. For each channel, the first matching rule applies. Events: ${NOTIFIED_EVENTS.join(', ')}.`,
    'a list of {channel, events}',
  ),
  denialSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 15 },
    'How long denials of a pipeline are collected before the first message about them, in seconds.',
  ),
  denialMinutes: wholeNumberKey(
    { min: 1, max: MAX_MINUTES, default: 15 },
    'Time between two messages about denials of the same pipeline, in minutes. Each has the number of denials since the one before.',
  ),
})
