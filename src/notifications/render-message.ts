import type { Notice, ShownNotice } from './notice.js'

/** Type of a channel. */
export type ChannelType = 'slack' | 'teams' | 'mail' | 'webhook'

/** Bodies of a notice for a channel, as JSON text: one for each message. */
export function renderMessages(
  type: ChannelType,
  notice: Notice,
  shown: ShownNotice,
  recipients: readonly string[],
): readonly string[] {
  switch (type) {
    case 'slack':
      return [JSON.stringify(slackMessage(shown))]
    case 'teams':
      return [JSON.stringify(teamsMessage(shown))]
    case 'webhook':
      return [JSON.stringify(webhookMessage(notice, shown))]
    case 'mail':
      return recipients.map((to) => JSON.stringify({ to, ...mailMessage(shown) } satisfies MailMessage))
  }
}

/** Fields of a section in Block Kit. */
const MAX_FIELDS = 10

/**
 * Message of an incoming webhook in Block Kit. Texts are `plain_text` objects, which have no markup.
 * The text for notifications has markup, so its control characters are escaped (Slack, "Formatting
 * text for app surfaces").
 */
function slackMessage({ title, facts, link }: ShownNotice): object {
  const plain = (text: string): object => ({ type: 'plain_text', text: escapeSlack(text), emoji: false })
  const fields = facts.slice(0, MAX_FIELDS).map(([name, value]) => plain(`${name}: ${value}`))
  return {
    text: escapeSlack(title),
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'section', text: plain(title) },
      ...(fields.length === 0 ? [] : [{ type: 'section', fields }]),
      ...(link === undefined
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${escapeSlack(link)}|Open in Tidegate>` } }]),
    ],
  }
}

function escapeSlack(text: string): string {
  return withoutMentions(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Separates `@` from names that mention everybody, for clients that find them in any text. */
function withoutMentions(text: string): string {
  return text.replaceAll(/@(?=here|channel|everyone|group|team)/gi, '@\u200b')
}

/** Message of a workflow: an adaptive card of text runs, which have no Markdown. */
function teamsMessage({ title, facts, link }: ShownNotice): object {
  const line = (...inlines: readonly object[]): object => ({ type: 'RichTextBlock', inlines })
  const run = (text: string, weight?: 'bolder'): object => ({
    type: 'TextRun',
    text: withoutMentions(text),
    ...(weight && { weight }),
  })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line(run(title, 'bolder')),
      ...facts.map(([name, value]) => line(run(`${name}: `, 'bolder'), run(value))),
    ],
    ...(link !== undefined && {
      actions: [{ type: 'Action.OpenUrl', title: 'Open in Tidegate', url: link }],
    }),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
}

/** Body of a mail in the outbox. */
export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
}

const MAX_SUBJECT = 200

function mailMessage({ title, facts, link }: ShownNotice): Omit<MailMessage, 'to'> {
  const lines = [title, '', ...facts.map(([name, value]) => `${name}: ${value}`)]
  const text = [...lines, ...(link === undefined ? [] : ['', link])].join('\n')
  return { subject: title.slice(0, MAX_SUBJECT).toWellFormed(), text: `${text}\n` }
}

function webhookMessage(notice: Notice, { title, facts, link }: ShownNotice): object {
  const { event, timeMs, gate, state, count } = notice
  return {
    type: event,
    timestamp: new Date(timeMs).toISOString(),
    text: title,
    data: { gate, state, count, ...Object.fromEntries(facts), url: link },
  }
}
