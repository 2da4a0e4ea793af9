package statuses

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/gitfor/gitfor/app/fault"
	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/model"
	"github.com/gitfor/gitfor/db/statusdb"
)

// CheckInput is a check run as it is reported, or what changes of it; fields
// that are nil stay as they are.
type CheckInput struct {
	Name        *string      `json:"name"`
	HeadSHA     string       `json:"head_sha"`
	DetailsURL  *string      `json:"details_url"`
	ExternalID  *string      `json:"external_id"`
	Status      *string      `json:"status"`
	Conclusion  *string      `json:"conclusion"`
	StartedAt   *time.Time   `json:"started_at"`
	CompletedAt *time.Time   `json:"completed_at"`
	Output      *CheckOutput `json:"output"`
}

// CheckOutput is what a check run has to say.
type CheckOutput struct {
	Title       string            `json:"title"`
	Summary     string            `json:"summary"`
	Text        string            `json:"text"`
	Annotations []json.RawMessage `json:"annotations"`
}

func checkStatuses() []string {
	return []string{"queued", "in_progress", "completed", "waiting", "requested", "pending"}
}

func conclusions() []string {
	return []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "stale", "timed_out"}
}

// maxAnnotations is how many annotations a check run keeps.
const maxAnnotations = 1000

func (in *CheckInput) validate() error {
	fields := fault.Fields{}
	text := func(name string, s *string, limit int) {
		if s != nil {
			fields.Add(name, textOf(*s, limit))
		}
	}
	text("name", in.Name, maxContext)
	text("external_id", in.ExternalID, maxContext)
	if in.Name != nil && *in.Name == "" {
		fields.Add("name", "A check needs a name.")
	}
	if in.DetailsURL != nil {
		fields.Add("details_url", addressOf(*in.DetailsURL))
	}
	if in.Status != nil && !slices.Contains(checkStatuses(), *in.Status) {
		fields.Add("status", "The status is queued, in_progress or completed.")
	}
	if in.Conclusion != nil && *in.Conclusion != "" && !slices.Contains(conclusions(), *in.Conclusion) {
		fields.Add("conclusion", "The conclusion is action_required, cancelled, failure, neutral, success, skipped, stale or timed_out.")
	}
	if in.Status != nil && *in.Status == "completed" && (in.Conclusion == nil || *in.Conclusion == "") {
		fields.Add("conclusion", "A completed check has a conclusion.")
	}
	if o := in.Output; o != nil {
		fields.Add("output.title", textOf(o.Title, maxContext))
		fields.Add("output.summary", textOf(o.Summary, maxText))
		fields.Add("output.text", textOf(o.Text, maxText))
	}
	return fields.Err()
}

// apply puts what in says into a check run.
func (in *CheckInput) apply(row *model.Status, now time.Time) {
	c := row.Check
	if in.Name != nil {
		row.Context = *in.Name
	}
	if in.DetailsURL != nil {
		row.TargetURL = *in.DetailsURL
	}
	if in.ExternalID != nil {
		c.ExternalID = *in.ExternalID
	}
	if in.Status != nil {
		c.Status = *in.Status
		if c.Status != "completed" {
			c.Conclusion, c.CompletedAt = "", nil
		}
	}
	if in.Conclusion != nil && *in.Conclusion != "" {
		c.Status, c.Conclusion = "completed", *in.Conclusion
	}
	if in.StartedAt != nil {
		c.StartedAt = in.StartedAt
	} else if c.StartedAt == nil {
		c.StartedAt = &now
	}
	switch {
	case in.CompletedAt != nil:
		c.CompletedAt = in.CompletedAt
	case c.Status == "completed" && c.CompletedAt == nil:
		c.CompletedAt = &now
	}
	if o := in.Output; o != nil {
		c.Title, c.Summary, c.Text = o.Title, o.Summary, o.Text
		row.Description = o.Title
		in.annotate(c)
	}
	row.State = c.Status
	if c.Conclusion != "" {
		row.State = c.Conclusion
	}
}

// annotate adds annotations to those that are there: they come in several
// requests.
func (in *CheckInput) annotate(c *model.Check) {
	if len(in.Output.Annotations) == 0 {
		return
	}
	var have []json.RawMessage
	if len(c.Annotations) > 0 {
		_ = json.Unmarshal(c.Annotations, &have) // written here, so it can be read
	}
	have = append(have, in.Output.Annotations...)
	if len(have) > maxAnnotations {
		have = have[:maxAnnotations]
	}
	c.Count = len(have)
	c.Annotations, _ = json.Marshal(have) //nolint:errchkjson // raw JSON that was read
}

// RunCheck notes a new check run of a commit.
func (s *Service) RunCheck(ctx context.Context, viewer *model.Viewer, repo *model.Repo, in CheckInput) (*model.Status, error) {
	if in.Name == nil {
		in.Name = new(string)
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	oid, err := s.commit(ctx, repo, in.HeadSHA)
	if err != nil {
		return nil, err
	}
	row := &model.Status{SHA: oid.String(), Kind: model.StatusCheck, CreatorID: viewer.ID(), Check: &model.Check{Status: "queued"}}
	in.apply(row, time.Now().UTC())
	return row, s.insert(ctx, viewer, repo, row, checkEvent(row, "check.created"))
}

func checkEvent(row *model.Status, other string) string {
	if row.Check.Status == "completed" {
		return "check.completed"
	}
	return other
}

// ChangeCheck changes a check run.
func (s *Service) ChangeCheck(ctx context.Context, viewer *model.Viewer, repo *model.Repo, id int64, in CheckInput) (*model.Status, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	var row *model.Status
	err := s.DB.InRepo(ctx, repo.ID, func(ctx context.Context, tx *db.RepoTx) (err error) {
		if row, err = statusdb.Find(ctx, tx.Repo, model.StatusCheck, id); err != nil {
			return err
		}
		in.apply(row, tx.Now())
		if err := statusdb.Update(ctx, tx, row); err != nil {
			return err
		}
		return emit(ctx, tx, viewer, repo, row, checkEvent(row, "check.updated"))
	})
	return row, err
}
