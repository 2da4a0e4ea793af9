package part

import "github.com/gitfor/gitfor/views/ui"

// IssueState is how an issue's state looks: state is open or closed, reason is
// completed, not_planned, duplicate or reopened.
func IssueState(state, reason string) ui.State {
	switch {
	case state == "open":
		return ui.State{Kind: "open"}
	case reason == "not_planned":
		return ui.State{Kind: "closed-not-planned"}
	case reason == "duplicate":
		return ui.State{Kind: "closed-not-planned", Word: "Closed as duplicate"}
	}
	return ui.State{Kind: "closed-done"}
}

// PullState is how a pull request's state looks.
func PullState(state string, merged, draft bool) ui.State {
	switch {
	case merged:
		return ui.State{Kind: "merged"}
	case state != "open":
		return ui.State{Kind: "pull-closed"}
	case draft:
		return ui.State{Kind: "draft"}
	}
	return ui.State{Kind: "pull-open"}
}

// CheckState is how the result of a check, status, job or run looks, by the
// words of GitHub's API for conclusions and states.
func CheckState(state string) ui.State {
	switch state {
	case "success":
		return ui.State{Kind: "success"}
	case "failure", "error", "startup_failure":
		return ui.State{Kind: "failure"}
	case "timed_out":
		return ui.State{Kind: "failure", Word: "Timed out", Icon: "timer"}
	case "cancelled":
		return ui.State{Kind: "cancelled"}
	case "skipped":
		return ui.State{Kind: "skipped"}
	case "stale":
		return ui.State{Kind: "neutral", Word: "Stale"}
	case "action_required":
		return ui.State{Kind: "warning", Word: "Needs a decision"}
	case "in_progress", "running":
		return ui.State{Kind: "running"}
	case "queued", "requested":
		return ui.State{Kind: "queued", Word: "Queued"}
	case "waiting", "pending", "expected":
		return ui.State{Kind: "pending"}
	}
	return ui.State{Kind: "neutral"}
}
