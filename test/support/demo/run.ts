import { setTimeout } from 'node:timers/promises'
import { parseArgs, styleText } from 'node:util'

import { toError } from '../../../src/errors/app-error.js'
import { startParts } from './start-parts.js'
import type { Parts } from './start-parts.js'
import { runStory } from './story.js'

const HELP = `make demo: an orchestrator, Prometheus and Tidegate on loopback, and two minutes in which everything happens.

  --once              decide at the gate by itself, and end after the story
  --small-prometheus  take the demo's own small server even where Prometheus is installed
`
const { values: flags } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    'small-prometheus': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
/** Time limit for the shutdown. */
const MAX_MS = 24 * 60 * 60 * 1000

function say(text: string): void {
  const isHeading = text.startsWith('## ') && process.stdout.isTTY
  process.stdout.write(`${isHeading ? styleText('bold', text.slice('## '.length)) : text}\n`)
}

function introduce({ orchestrator, tidegateUrl, prometheusUrl, isRealPrometheus, token }: Parts): void {
  say('')
  say(`  orchestrator  ${orchestrator.url}      everything that happens, as it happens`)
  say(`  Tidegate      ${tidegateUrl}/ui   sign in as ana, with the token ${token}`)
  const which = isRealPrometheus
    ? 'the real one'
    : 'not installed: a small server with as much of its API as is needed'
  say(`  Prometheus    ${prometheusUrl}      ${which}`)
  say('\nCtrl-C ends it and leaves nothing behind.\n')
}

async function demo(): Promise<number> {
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end.abort())
  const ended = end.signal
  const closers: (() => unknown)[] = []
  let broken: Error | undefined
  try {
    say('Starting an orchestrator, Prometheus and Tidegate ...')
    const parts = await startParts({
      withSmallPrometheus: flags['small-prometheus'],
      ended,
      failed: (error) => {
        broken = toError(error)
        end.abort()
      },
      onClose: (close) => closers.unshift(close),
    })
    ended.throwIfAborted()
    introduce(parts)
    await runStory({ parts, approvesItself: flags.once, say, ended })
    if (!flags.once) {
      say(`That is all. Everything stays up to be looked at: ${parts.orchestrator.url}; Ctrl-C ends it.`)
      await setTimeout(MAX_MS, undefined, { signal: ended })
    }
  } catch (error) {
    if (!ended.aborted) broken = toError(error)
  } finally {
    for (const close of closers) await close()
  }
  if (broken === undefined) return 0
  process.stderr.write(`the demo broke off: ${broken.message}\n`)
  return 1
}

if (flags.help) say(HELP)
else process.exitCode = await demo()
