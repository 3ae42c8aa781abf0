import { z } from 'zod'

import { Builds, PAGE_SIZE, toBuildState, pullRequestState } from './bitbucket-builds.js'
import type { RepositoryHost } from './tool/commit-lookups.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const Links = z.object({ html: z.object({ href: shortText }).nullish() }).nullish()
const Branch = z.object({ branch: z.object({ name: shortText }).nullish() }).nullish()
const Commit = z.object({
  hash: shortText,
  message: optionalText,
  date: optionalText,
  author: z.object({ raw: optionalText }).nullish(),
  links: Links,
})
const Pull = z.object({
  id: z.number(),
  title: shortText,
  state: z.string(),
  draft: z.boolean().nullish(),
  author: z.object({ display_name: optionalText }).nullish(),
  source: Branch,
  destination: Branch,
  merge_commit: z.object({ hash: shortText }).nullish(),
  participants: z.array(z.object({ approved: z.boolean() })).nullish(),
  links: Links,
})

/** Bitbucket Cloud, REST API 2.0. */
export function bitbucketCloud(baseUrl: string): RepositoryHost {
  const url = (repository: string, ...rest: string[]): string =>
    toolUrl(baseUrl, ['repositories', ...repository.split('/'), ...rest])
  return {
    repositoryParameter: 'repositoryName',
    mergeParameter: 'pullRequest',
    fetchCommit: async (read, repository, commitId) => {
      const commitUrl = url(repository, 'commit', commitId)
      const [commit, builds] = await Promise.all([
        read(Commit, commitUrl),
        read(Builds, `${commitUrl}/statuses?pagelen=${PAGE_SIZE}`),
      ])
      return {
        kind: 'commit',
        repository,
        commitId: commit.hash,
        ...toBuildState(builds),
        title: commit.message?.split('\n', 1)[0] ?? null,
        author: commit.author?.raw ?? null,
        committedAt: commit.date,
        url: commit.links?.html?.href ?? null,
      }
    },
    fetchMerge: async (read, repository, number) =>
      toPullRequest(repository, await read(Pull, url(repository, 'pullrequests', number))),
  }
}

function toPullRequest(repository: string, pull: z.output<typeof Pull>): object {
  return {
    ...pullRequestState(repository, pull, pull.participants),
    author: pull.author?.display_name ?? null,
    sourceBranch: pull.source?.branch?.name ?? null,
    targetBranch: pull.destination?.branch?.name ?? null,
    mergeCommitId: pull.merge_commit?.hash ?? null,
    url: pull.links?.html?.href ?? null,
  }
}
