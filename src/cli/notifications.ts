import type { Command } from 'commander'
import { z } from 'zod'

import { textTable } from './output/text-table.js'
import { printAnswer } from './session/service-client.js'
import { addServiceOptions } from './session/service-options.js'
import type { ServiceOptions } from './session/service-options.js'
import { EXIT } from './session/session.js'
import type { Session } from './session/session.js'
import { examples } from './session/shared-options.js'

const Channels = z.object({
  channels: z.array(z.object({ name: z.string(), type: z.string(), events: z.array(z.string()) })),
})
const Tested = z.object({ channel: z.string(), delivered: z.number(), problems: z.array(z.string()) })

/** `tidegate notifications`: channels of a service. */
export function defineNotifications(command: Command, session: Session): void {
  command
    .description('Lists and tests the channels of notifications of a running service.')
    .addHelpText('after', examples('tidegate notifications list', 'tidegate notifications test ops'))
  defineChannelList(command.command('list'), session)
  defineChannelTest(command.command('test'), session)
}

/** `tidegate notifications list`: lists channels. */
function defineChannelList(command: Command, session: Session): void {
  addServiceOptions(command)
    .description('Lists the channels of notifications.channels with the events that go to them.')
    .addHelpText('after', examples('tidegate notifications list'))
    .action(async (options: ServiceOptions) => {
      const request = { path: '/notifications' }
      await printAnswer(options, { schema: Channels, request, textOf: channelTable }, session)
      session.exitCode = EXIT.fine
    })
}

/** `tidegate notifications test`: sends a test message. */
function defineChannelTest(command: Command, session: Session): void {
  addServiceOptions(command)
    .argument('<channel>', 'name of the channel')
    .description('Sends a test message to a channel. Exits with 1 if it is not delivered.')
    .addHelpText('after', examples('tidegate notifications test ops'))
    .action(async (channel: string, options: ServiceOptions) => {
      const path = `/notifications/${encodeURIComponent(channel)}/test`
      const request = { method: 'POST', path } as const
      const tested = await printAnswer(options, { schema: Tested, request, textOf: testText }, session)
      session.exitCode = tested.problems.length === 0 ? EXIT.fine : EXIT.denied
    })
}

function channelTable({ channels }: z.output<typeof Channels>): string {
  if (channels.length === 0) return 'No channels. Add some to notifications.channels.\n'
  const rows = channels.map(({ name, type, events }) => [name, type, events.join(', ')])
  return textTable([['channel', 'type', 'events'], ...rows])
}

function testText({ channel, delivered, problems }: z.output<typeof Tested>): string {
  const sent = delivered === 1 ? '1 test message' : `${delivered} test messages`
  const lines = problems.map((problem) => `not delivered to ${channel}: ${problem}\n`)
  return `${delivered > 0 ? `${sent} delivered to ${channel}\n` : ''}${lines.join('')}`
}
