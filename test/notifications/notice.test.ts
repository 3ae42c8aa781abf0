import { describe, expect, it } from 'vitest'
import { oneLine, rulesFor, showNotice } from '../../src/notifications/notice.js'
import type { Notice } from '../../src/notifications/notice.js'
import { renderMessages } from '../../src/notifications/render-message.js'

const NOTICE: Notice = {
  event: 'gate.activated',
  timeMs: 0,
  subject: 'notification:gate-instance:17',
  path: '/ui/approvals/17',
  gate: 'Production',
  groups: ['sre'],
  application: 'shop',
}
const URL = 'https://tidegate.example.org/base/'

describe('rules of notifications', () => {
  it('match by event, gate, group and application, and the first of a channel applies', () => {
    const events = ['gate.activated'] as const
    const rules = [
      { channel: 'a', events, groups: ['dba'] },
      { channel: 'a', events, groups: ['sre'], template: 'first' },
      { channel: 'a', events, template: 'second' },
      { channel: 'b', events: ['gate.decided'] as const },
      { channel: 'c', events, gates: ['Staging'] },
      { channel: 'd', events, applications: ['shop'], gates: ['Production'] },
    ]
    expect(rulesFor(rules, NOTICE).map(({ channel, template }) => [channel, template])).toEqual([
      ['a', 'first'],
      ['d', undefined],
    ])
  })

  it('about gates or applications match no event without them', () => {
    const denial: Notice = {
      ...NOTICE,
      event: 'policy.denied',
      ...{ gate: undefined, groups: undefined, application: undefined },
    }
    const events = ['policy.denied'] as const
    expect(rulesFor([{ channel: 'a', events, gates: ['Production'] }], denial)).toEqual([])
    expect(rulesFor([{ channel: 'a', events, groups: ['sre'] }], denial)).toEqual([])
    expect(rulesFor([{ channel: 'a', events, applications: ['shop'] }], denial)).toEqual([])
  })
})

describe('a shown notice', () => {
  it('links to the page below the public URL', () => {
    expect(showNotice(NOTICE, URL, undefined).link).toBe('https://tidegate.example.org/base/ui/approvals/17')
  })

  it('has the text of a template, whose values are not read for placeholders again', () => {
    const notice = { ...NOTICE, gate: '{link}', application: '$& {gate}' }
    const { title } = showNotice(notice, URL, '{gate}|{application}|{comment}|{event}')
    expect(title).toBe('{link}|$& {gate}||gate.activated')
  })

  it('is one line without control and bidirectional characters, and well-formed after a cut', () => {
    expect(oneLine('a\r\nBcc: eve\u202eb\u0007', 100)).toBe('a Bcc: eve\ufffdb\ufffd')
    const cut = oneLine(`${'x'.repeat(9)}\u{1f600}y`, 10)
    expect(cut.isWellFormed()).toBe(true)
    expect(cut).toHaveLength(11)
  })
})

const EVIL = '<!channel> <https://evil.example|ok> @here *b* [x](javascript:alert(1)) <at>all</at> <b>\u202e'

describe('messages of chats', () => {
  const evil: Notice = { ...NOTICE, gate: EVIL, application: EVIL, user: EVIL, comment: EVIL.repeat(1000) }
  const shown = showNotice(evil, URL, undefined)

  it('for Slack have foreign texts only where no markup is read, with control characters escaped', () => {
    const [body = ''] = renderMessages('slack', evil, shown, [])
    expect(body).not.toMatch(/<!|<https:\/\/evil|@here|\u202e/)
    const { blocks } = JSON.parse(body) as { blocks: { text?: { type: string; text: string } }[] }
    const marked = blocks.filter(({ text }) => text?.type === 'mrkdwn')
    expect(marked.map(({ text }) => text?.text)).toEqual([
      '<https://tidegate.example.org/base/ui/approvals/17|Open in Tidegate>',
    ])
    expect(body).toContain('&lt;!channel&gt;')
  })

  it('for Slack are within the limits of blocks', () => {
    const [body = ''] = renderMessages('slack', evil, shown, [])
    const { blocks } = JSON.parse(body) as {
      blocks: { text?: { text: string }; fields?: { text: string }[] }[]
    }
    for (const { text, fields = [] } of blocks) {
      expect(text?.text.length ?? 0).toBeLessThanOrEqual(3000)
      expect(fields.length).toBeLessThanOrEqual(10)
      for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000)
    }
  })

  it('for Teams have foreign texts only in text runs, and are below 28 KB', () => {
    const [body = ''] = renderMessages('teams', evil, shown, [])
    expect(Buffer.byteLength(body)).toBeLessThan(28 * 1024)
    const { content } = (JSON.parse(body) as { attachments: [{ content: { body: { type: string }[] } }] })
      .attachments[0]
    expect(new Set(content.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']))
    expect(body).not.toMatch(/@here|msteams|\u202e/)
  })

  it('for mail are one for each recipient, with a subject of one line', () => {
    const notice = { ...NOTICE, gate: 'x\r\nBcc: eve@example.org\r\n\r\n<b>' }
    const mails = renderMessages('mail', notice, showNotice(notice, URL, undefined), [
      'a@example.org',
      'b@example.org',
    ])
    expect(mails.map((mail) => (JSON.parse(mail) as { to: string }).to)).toEqual([
      'a@example.org',
      'b@example.org',
    ])
    for (const mail of mails) expect((JSON.parse(mail) as { subject: string }).subject).not.toMatch(/[\r\n]/)
  })
})
