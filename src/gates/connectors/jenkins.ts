import { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { Lookup, Tool } from './tool/tool.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const JOB = {
  // Characters that Jenkins forbids in job names.
  pattern: /^[^?*\\%!@#$^&|<>[\]:;\p{Cc}]{1,1000}$/u,
  words: 'the name of a job such as build-shop, after its folders where it has any: shop/build',
}
const BUILD = {
  pattern: /^(?:\d{1,15}|last[A-Z][A-Za-z]{1,30}Build|lastBuild)$/,
  words: 'the number of a build, or a link such as lastSuccessfulBuild',
}
const ARTIFACT = { pattern: /^[^\p{Cc}]{1,1000}$/u, words: 'the file name or path of an artifact' }
const MEMBERS =
  'id,number,result,building,timestamp,duration,fullDisplayName,url,artifacts[fileName,relativePath]'

const Build = z.object({
  id: optionalText,
  number: z.number(),
  // Null during the build.
  result: optionalText,
  building: z.boolean(),
  timestamp: z.number(),
  duration: z.number(),
  fullDisplayName: optionalText,
  url: optionalText,
  artifacts: z.array(z.object({ fileName: shortText, relativePath: shortText })).nullish(),
})

/**
 * Builds by job and number, from the remote access API: `GET
 * /job/{folder}/job/{job}/{build}/api/json`.
 */
export const jenkins: Tool = {
  connectorTypes: ['JENKINS'],
  lookups: (parameters, baseUrl) => {
    const job = parameters.one('job', JOB)
    const builds = parameters.list('buildId', BUILD)
    const artifacts = parameters.optionalList('artifact', ARTIFACT)
    return builds.map((build) => buildLookup(job, build, artifacts, baseUrl))
  },
}

function buildLookup(job: string, buildId: string, artifacts: readonly string[], baseUrl: string): Lookup {
  return {
    subject: `${job} ${buildId}`,
    fetch: async (read) => {
      const names = job.split('/').filter((name) => name !== '')
      const folders = names.flatMap((name) => ['job', name])
      const url = toolUrl(baseUrl, [...folders, buildId, 'api', 'json'], { tree: MEMBERS })
      const build = await read(Build, url)
      requireArtifacts(build, artifacts)
      return [
        {
          job,
          buildId: build.id ?? String(build.number),
          result: build.result,
          building: build.building,
          startedAt: build.timestamp,
          durationMs: build.duration,
          displayName: build.fullDisplayName,
          artifacts: (build.artifacts ?? []).map(({ relativePath }) => relativePath),
          url: build.url,
        },
      ]
    },
  }
}

function requireArtifacts({ artifacts }: z.output<typeof Build>, wanted: readonly string[]): void {
  const there = (artifacts ?? []).flatMap(({ fileName, relativePath }) => [fileName, relativePath])
  const missing = wanted.filter((name) => !there.includes(name))
  if (missing.length > 0) throw new AppError('not_found', `the build has no artifact ${missing.join(', ')}`)
}
