import { z } from 'zod'

import { Builds, PAGE_SIZE, toBuildState, pullRequestState } from './bitbucket-builds.js'
import type { RepositoryHost } from './tool/commit-lookups.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const Ref = z.object({ displayId: optionalText, latestCommit: optionalText }).nullish()
const Commit = z.object({
  id: shortText,
  message: optionalText,
  author: z.object({ name: optionalText }).nullish(),
  committerTimestamp: z.number().nullish(),
})
const Pull = z.object({
  id: z.number(),
  title: shortText,
  state: z.string(),
  draft: z.boolean().nullish(),
  author: z.object({ user: z.object({ displayName: optionalText }) }).nullish(),
  fromRef: Ref,
  toRef: Ref,
  reviewers: z.array(z.object({ approved: z.boolean() })).nullish(),
  links: z.object({ self: z.array(z.object({ href: shortText })) }).nullish(),
})

/** Bitbucket Server and Data Center, REST APIs 1.0. */
export function bitbucketServer(baseUrl: string): RepositoryHost {
  const url = (repository: string, ...rest: string[]): string => {
    const [project = '', ...names] = repository.split('/')
    return toolUrl(baseUrl, ['rest', 'api', '1.0', 'projects', project, 'repos', names.join('/'), ...rest])
  }
  return {
    repositoryParameter: 'repositoryName',
    mergeParameter: 'pullRequest',
    fetchCommit: async (read, repository, commitId) => {
      const buildsUrl = toolUrl(baseUrl, ['rest', 'build-status', '1.0', 'commits', commitId], {
        limit: String(PAGE_SIZE),
      })
      const commit = await read(Commit, url(repository, 'commits', commitId))
      return {
        kind: 'commit',
        repository,
        commitId: commit.id,
        ...toBuildState(await read(Builds, buildsUrl)),
        title: commit.message?.split('\n', 1)[0] ?? null,
        author: commit.author?.name ?? null,
        committedAt: commit.committerTimestamp ?? null,
        url: toolUrl(baseUrl, browsePath(repository, commit.id)),
      }
    },
    fetchMerge: async (read, repository, number) =>
      toPullRequest(repository, await read(Pull, url(repository, 'pull-requests', number))),
  }
}

function browsePath(repository: string, commitId: string): string[] {
  const [project = '', ...names] = repository.split('/')
  return ['projects', project, 'repos', names.join('/'), 'commits', commitId]
}

function toPullRequest(repository: string, pull: z.output<typeof Pull>): object {
  return {
    ...pullRequestState(repository, pull, pull.reviewers),
    author: pull.author?.user.displayName ?? null,
    sourceBranch: pull.fromRef?.displayId ?? null,
    targetBranch: pull.toRef?.displayId ?? null,
    commitId: pull.fromRef?.latestCommit ?? null,
    url: pull.links?.self[0]?.href ?? null,
  }
}
