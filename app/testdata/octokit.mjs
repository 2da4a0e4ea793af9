// Drives the API with GitHub's own client for JavaScript: octokit.mjs URL TOKEN
import assert from "node:assert/strict";
import { Octokit } from "@octokit/rest";

const [url, token] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn: console.warn, error() {} };
const octokit = new Octokit({ baseUrl: `${url}/api/v3`, auth: token, log });
const { data: me } = await octokit.rest.users.getAuthenticated();
assert.equal(me.login, "ann");
const owner = me.login;
const repo = "box";
const at = { owner, repo };
const b64 = (text) => Buffer.from(text).toString("base64");
const fails = async (status, call) => {
  const err = await call.then(() => assert.fail("was let in"), (e) => e);
  assert.equal(err.status, status, String(err));
  return err.response.data;
};

// repositories
const made = await octokit.rest.repos.createForAuthenticatedUser({ name: repo, description: "a box", auto_init: true });
assert.equal(made.status, 201);
assert.equal(made.data.full_name, "ann/box");
assert.equal(made.data.private, false);
assert.equal((await octokit.rest.repos.get(at)).data.default_branch, "main");
assert.ok((await octokit.rest.repos.listForAuthenticatedUser()).data.some((r) => r.name === repo));
const taken = await fails(422, octokit.rest.repos.createForAuthenticatedUser({ name: "Box" }));
assert.equal(taken.errors[0].field, "name");
await fails(404, octokit.rest.repos.get({ owner, repo: "nothing" }));

// contents
const put = await octokit.rest.repos.createOrUpdateFileContents({ ...at, path: "src/größe 1.txt", message: "add", content: b64("eins\n") });
assert.equal(put.data.content.path, "src/größe 1.txt");
const got = await octokit.rest.repos.getContent({ ...at, path: "src/größe 1.txt" });
assert.equal(Buffer.from(got.data.content, "base64").toString(), "eins\n");
await octokit.rest.repos.createOrUpdateFileContents({ ...at, path: "src/größe 1.txt", message: "change", content: b64("zwei\n"), sha: got.data.sha });
await fails(409, octokit.rest.repos.createOrUpdateFileContents({ ...at, path: "src/größe 1.txt", message: "late", content: b64("drei\n"), sha: got.data.sha }));
assert.equal((await octokit.rest.repos.getContent({ ...at, path: "" })).data.length, 2);

// branches, commits, git data
const main = await octokit.rest.repos.getBranch({ ...at, branch: "main" });
await octokit.rest.git.createRef({ ...at, ref: "refs/heads/feature/one", sha: main.data.commit.sha });
assert.deepEqual((await octokit.rest.repos.listBranches(at)).data.map((b) => b.name).sort(), ["feature/one", "main"]);
const commits = await octokit.paginate(octokit.rest.repos.listCommits, { ...at, per_page: 1 });
assert.equal(commits.length, 3);
const change = await octokit.rest.repos.getCommit({ ...at, ref: "main" });
assert.equal(change.data.files[0].filename, "src/größe 1.txt");
assert.match(change.data.files[0].patch, /\+zwei/);
await octokit.rest.repos.createOrUpdateFileContents({ ...at, path: "new.txt", message: "new", content: b64("neu\n"), branch: "feature/one" });
const diff = await octokit.rest.repos.compareCommitsWithBasehead({ ...at, basehead: "main...feature/one" });
assert.equal(diff.data.ahead_by, 1);

// issues
const issue = await octokit.rest.issues.create({ ...at, title: "Jam", body: "It **jams**.", labels: ["bug"], assignees: [owner] });
assert.equal(issue.data.number, 1);
assert.equal(issue.data.labels[0].name, "bug");
for (const body of ["one", "two", "three"]) await octokit.rest.issues.createComment({ ...at, issue_number: 1, body });
const comments = await octokit.paginate(octokit.rest.issues.listComments, { ...at, issue_number: 1, per_page: 2 });
assert.deepEqual(comments.map((c) => c.body), ["one", "two", "three"]);
await octokit.rest.issues.updateComment({ ...at, comment_id: comments[0].id, body: "first" });
await octokit.rest.reactions.createForIssue({ ...at, issue_number: 1, content: "rocket" });
const closed = await octokit.rest.issues.update({ ...at, issue_number: 1, state: "closed", state_reason: "not_planned" });
assert.equal(closed.data.state_reason, "not_planned");
assert.equal((await octokit.rest.issues.listForRepo({ ...at, state: "all" })).data.length, 1);
const untitled = await fails(422, octokit.rest.issues.create({ ...at, title: "" }));
assert.equal(untitled.message, "Validation Failed");

// pull requests
const pull = await octokit.rest.pulls.create({ ...at, title: "New", head: "feature/one", base: "main", body: "Closes #1" });
const number = { ...at, pull_number: pull.data.number };
assert.equal(pull.data.mergeable, true);
assert.deepEqual((await octokit.rest.pulls.listFiles(number)).data.map((f) => f.filename), ["new.txt"]);
await octokit.rest.repos.createCommitStatus({ ...at, sha: pull.data.head.sha, state: "success", context: "ci" });
assert.equal((await octokit.rest.repos.getCombinedStatusForRef({ ...at, ref: pull.data.head.sha })).data.state, "success");
await octokit.rest.pulls.createReview({ ...number, event: "COMMENT", body: "fine", comments: [{ path: "new.txt", line: 1, body: "why?" }] });
assert.equal((await octokit.rest.pulls.listReviewComments(number)).data[0].body, "why?");
await fails(409, octokit.rest.pulls.merge({ ...number, sha: main.data.commit.sha }));
assert.equal((await octokit.rest.pulls.merge({ ...number, merge_method: "squash", sha: pull.data.head.sha })).data.merged, true);
assert.equal((await octokit.rest.pulls.get(number)).data.merged, true);

// releases, stars, the limit
const release = await octokit.rest.repos.createRelease({ ...at, tag_name: "v1.0.0", name: "First" });
assert.equal((await octokit.rest.repos.getLatestRelease(at)).data.id, release.data.id);
await octokit.rest.activity.starRepoForAuthenticatedUser(at);
assert.ok((await octokit.rest.rateLimit.get()).data.resources.core.limit >= 5000);

// who has no token sees what is public, and may write nothing
const stranger = new Octokit({ baseUrl: `${url}/api/v3`, log });
assert.equal((await stranger.rest.issues.get({ ...at, issue_number: 1 })).data.title, "Jam");
await fails(401, stranger.rest.issues.create({ ...at, title: "x" }));
await fails(401, new Octokit({ baseUrl: `${url}/api/v3`, auth: "wrong", log }).rest.users.getAuthenticated());
await octokit.rest.repos.delete(at);
await fails(404, octokit.rest.repos.get(at));
console.log("all fine");
