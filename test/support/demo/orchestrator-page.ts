import type { Execution, Stage } from './execution.js'
import type { Save } from './orchestrator.js'

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5dae1, #3a424d); --soft: light-dark(#5b6672, #9aa5b1); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; margin: 0; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
p { margin: .2rem 0; } .soft { color: var(--soft); }
article { border: 1px solid var(--line); border-radius: 8px; padding: .6rem .9rem; margin: .6rem 0; }
ol { list-style: none; margin: .5rem 0 0; padding: 0; }
li { display: flex; flex-wrap: wrap; gap: .1rem .7rem; padding: .25rem 0; border-top: 1px solid var(--line); }
.name { flex: 0 0 10rem; } .status { flex: 0 0 7.5rem; font-weight: 600; font-size: .85rem; line-height: 1.7; }
.words { flex: 1 1 16rem; }
.SUCCEEDED { color: light-dark(#14713d, #5fd394); } .TERMINAL { color: light-dark(#b3261e, #ff8a80); }
.RUNNING { color: light-dark(#0b5cad, #7cb8ff); } .NOT_STARTED { color: var(--soft); font-weight: 400; }
`

/** The page of the orchestrator: saves and runs, newest first, refreshed every two seconds. */
export function orchestratorPage(
  saves: readonly Save[],
  executions: readonly Execution[],
  tidegateUrl: string,
): string {
  const runs = executions.toReversed().map(runHtml)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Orchestrator</title><style>${STYLE}</style>
<body><h1>Orchestrator</h1><p class="soft">A small one for the demo. It asks <a href="${escape(tidegateUrl)}/ui">Tidegate</a> as the real one's plugins do.</p>
<h2>Runs</h2>${runs.join('') || '<p class="soft">None yet.</p>'}
<h2>Saves</h2>${saves.toReversed().map(saveHtml).join('') || '<p class="soft">None yet.</p>'}</body></html>`
}

function runHtml({ id, pipeline, user, status, stages }: Execution): string {
  return `<article><p><b>${escape(pipeline.application)} / ${escape(pipeline.name)}</b> <span class="status ${status}">${status}</span></p>
<p class="soft">started by ${escape(user)}, ${escape(id)}</p><ol>${stages.map(stageHtml).join('')}</ol></article>`
}

function stageHtml({ definition, status, message, link }: Stage): string {
  const words = link === '' ? escape(message) : `<a href="${escape(link)}">${escape(message || 'look')}</a>`
  return `<li><span class="name">${escape(definition.name)}</span><span class="status ${status}">${status.replace('_', ' ')}</span><span class="words">${words}</span></li>`
}

function saveHtml({ pipeline, user, refusal }: Save): string {
  const status = refusal === undefined ? 'SUCCEEDED' : 'TERMINAL'
  const word = refusal === undefined ? 'saved' : 'refused'
  return `<article><p><b>${escape(pipeline.application)} / ${escape(pipeline.name)}</b> <span class="status ${status}">${word}</span></p>
<p class="soft">by ${escape(user)}, ${pipeline.stages.length} stages</p>${refusal === undefined ? '' : `<p>${escape(refusal)}</p>`}</article>`
}

function escape(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => names[character] ?? '')
}
