package notificationview

import "github.com/gitfor/gitfor/db/model"

func reasons() []string { return model.ToldReasons() }
