import { z } from 'zod'

import { repositoryTool } from './tool/commit-lookups.js'
import type { FetchFromRepository, CheckState } from './tool/commit-lookups.js'
import { optionalText, shortText, toolUrl } from './tool/tool.js'

const Commit = z.object({
  id: shortText,
  title: optionalText,
  author_name: optionalText,
  author_email: optionalText,
  committed_date: optionalText,
  // The latest pipeline; null without any.
  status: optionalText,
  web_url: optionalText,
})
const MergeRequest = z.object({
  iid: z.number(),
  title: shortText,
  state: shortText,
  draft: z.boolean().nullish(),
  detailed_merge_status: optionalText,
  author: z.object({ username: shortText }).nullish(),
  source_branch: optionalText,
  target_branch: optionalText,
  sha: optionalText,
  merge_commit_sha: optionalText,
  head_pipeline: z.object({ status: shortText }).nullish(),
  web_url: optionalText,
})

const fetchCommit: FetchFromRepository = async (read, baseUrl, repository, commitId) => {
  const path = [...projectSegments(repository), 'repository', 'commits', commitId]
  const commit = await read(Commit, toolUrl(baseUrl, path))
  return {
    kind: 'commit',
    repository,
    commitId: commit.id,
    state: ofPipeline(commit.status),
    pipelineStatus: commit.status,
    title: commit.title,
    author: commit.author_name,
    authorEmail: commit.author_email ?? null,
    committedAt: commit.committed_date,
    url: commit.web_url,
  }
}

const fetchMergeRequest: FetchFromRepository = async (read, baseUrl, repository, number) => {
  const merge = await read(
    MergeRequest,
    toolUrl(baseUrl, [...projectSegments(repository), 'merge_requests', number]),
  )
  return {
    kind: 'mergeRequest',
    repository,
    number: merge.iid,
    state: merge.state === 'opened' ? 'open' : merge.state,
    isDraft: merge.draft ?? false,
    mergeState: merge.detailed_merge_status,
    pipelineStatus: merge.head_pipeline?.status ?? null,
    title: merge.title,
    author: merge.author?.username ?? null,
    sourceBranch: merge.source_branch,
    targetBranch: merge.target_branch,
    commitId: merge.sha,
    mergeCommitId: merge.merge_commit_sha,
    url: merge.web_url,
  }
}

/** GitLab expects a project's whole path as one encoded segment. */
function projectSegments(repository: string): string[] {
  return ['api', 'v4', 'projects', repository]
}

function ofPipeline(status: string | null): CheckState | 'none' {
  if (status === null || status === 'skipped') return 'none'
  if (status === 'success') return 'success'
  return status === 'failed' || status === 'canceled' ? 'failure' : 'pending'
}

/** Commits with the result of their pipeline, and merge requests, from GitLab's REST API 4. */
export const gitlab = repositoryTool(['GITLAB', 'GIT'], 'mergeRequest', fetchCommit, fetchMergeRequest)
